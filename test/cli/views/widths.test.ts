import assert from 'node:assert/strict'
import {authorityListView, authorityView} from '../../../src/cli/views/authorities.ts'
import {credentialListView} from '../../../src/cli/views/bootstrap-credentials.ts'
import {rotationView} from '../../../src/cli/views/ca-rotation.ts'
import {issuancesView} from '../../../src/cli/views/issuances.ts'
import {joinView} from '../../../src/cli/views/join.ts'
import {deletedMachinesView, machineListView} from '../../../src/cli/views/machines.ts'
import {nodeListView} from '../../../src/cli/views/nodes.ts'
import {obtainedTable} from '../../../src/cli/views/obtained.ts'
import {revocationListView} from '../../../src/cli/views/revocations.ts'
import {simulationView} from '../../../src/cli/views/simulation.ts'
import {statusView} from '../../../src/cli/views/status.ts'
import {tokenListView} from '../../../src/cli/views/tokens.ts'
import {CSR, LATER, NODE, NOW, PIN, SERIAL, SIGNER, TIME, WHY} from './width-samples.ts'
import {atWidth, shows, testWidths} from './widths.ts'

const ADDED_CA = {
  name: 'vpn-ca',
  location: '/var/lib/trustadm/pki/vpn-ca.crt',
  trustedFor: [],
  signsFor: [],
  externallyManaged: false,
  added: {signs: 'clients', description: 'clients of the VPN, which people use who work from home'},
  certificates: [
    {subject: 'CN=vpn-ca', signs: true, residualSeconds: 3e8, notAfter: TIME, pin: PIN},
    {subject: 'CN=old', signs: false, residualSeconds: -1, notAfter: TIME, pin: `${PIN}0`},
  ],
}

/** What each view prints for the longest names that are usual. */
const VIEWS: Record<string, () => string | Promise<string>> = {
  'ca list': () =>
    shows(authorityListView, {
      authorities: ['kubelet-serving-ca', 'legacy-unknown-ca'].map((name) => ({
        name,
        externallyManaged: false,
        certificates: [
          {subject: `CN=${name} of a cluster`, signs: true, residualSeconds: 3e8, pin: PIN},
          {subject: name, signs: false, certifiedBy: name, residualSeconds: -1, pin: PIN},
        ],
      })),
    }),
  'ca show': () => shows(authorityView, ADDED_CA),
  'ca rotate status': () =>
    shows(rotationView('/srv/plane'), {
      credentials: {
        rotation: {certificateAuthorities: {phase: 'Prepare', lastInitiation: TIME}},
      },
      action: 'start',
      isReady: false,
      steps: [{summary: 'trust old and new CAs', state: 'done'}],
      authorities: [{id: 'kubelet-serving-ca', old: {pin: PIN}, new: {pin: PIN}}],
      dependents: [
        {kind: 'client', name: `system:node:${NODE}`, lastSeen: TIME, reasons: [WHY], todo: WHY},
      ],
      stillTrusting: [{kind: 'node', name: NODE, reasons: [WHY], todo: WHY, isWaitedFor: false}],
      advice: [WHY],
    }),
  'certificate log': () =>
    shows(issuancesView(false), {
      entries: [
        {
          time: TIME,
          decision: 'refused',
          signer: SIGNER,
          request: CSR,
          requester: `system:node:${NODE}`,
          subject: `CN=system:node:${NODE},O=system:nodes`,
          names: {dns: [], ips: [], emails: [], uris: []},
          notAfter: LATER,
          reason: WHY,
        },
      ],
    }),
  'bootstrap-credential list': () =>
    shows(credentialListView(false), {
      credentials: [
        {
          id: '3f9a2c81d0b4',
          kind: 'certificate',
          namespace: 'openshift-machine-config-operator',
          state: 'expired',
          created: TIME,
          lastUsed: TIME,
          issued: 12_345,
          pending: [],
        },
      ],
    }),
  'bootstrap-credential show, token show': () =>
    obtainedTable({
      file: '/log',
      nodes: [NODE],
      certificates: [
        {node: NODE, time: TIME, by: 'renewal', signer: SIGNER, serial: SERIAL, notAfter: LATER},
      ],
    } as unknown as Parameters<typeof obtainedTable>[0]),
  'certificate list --revoked': () =>
    shows(revocationListView(false, NOW), {
      revocations: [
        {user: `system:node:${NODE}`, serial: SERIAL, revoked: TIME, expires: LATER, reason: WHY},
      ],
    }),
  'machine delete': () =>
    shows(deletedMachinesView, {
      machines: [
        {
          namespace: 'kube-system',
          name: 'worker-1',
          result: 'failed',
          error: 'there is no such Machine; see "trustadm machine list --dir /srv/plane"',
        },
      ],
    }),
  'machine list': () =>
    shows(machineListView(false, NOW), {
      machines: [
        {
          namespace: 'kube-system',
          name: NODE,
          state: 'incomplete',
          node: NODE,
          dns: [NODE],
          addresses: [],
          created: TIME,
          expectedUntil: LATER,
        },
      ],
    }),
  'node list': () =>
    shows(nodeListView(false, NOW), {
      nodes: [
        {
          name: NODE,
          registered: TIME,
          certificate: {serial: SERIAL, issuer: 'CN=kubernetes', notAfter: LATER},
          trusts: null,
          lastRenewal: TIME,
          problems: [{code: 'newer-certificate', message: WHY}],
        },
      ],
    }),
  'token list': () =>
    shows(tokenListView(false), {
      tokens: [
        {
          id: '0k2f5a',
          token: '0k2f5a.****************',
          ttlSeconds: 86_399,
          expires: LATER,
          usages: ['authentication', 'signing'],
          description: WHY,
          groups: ['system:bootstrappers:kubeadm:default-node-token'],
          problems: [],
        },
      ],
    }),
  status: () =>
    shows(statusView, {
      dir: '/var/lib/trustadm',
      endpoint: 'https://10.0.0.1:6443',
      server: {
        running: true,
        ready: false,
        pid: 1,
        checks: [],
        problems: [WHY],
        startedAt: TIME,
        startCommand: 'trustadm start --dir /var/lib/trustadm',
        version: null,
      },
      servers: [
        {
          name: 'apiserver-3f9a2c81d0b4',
          hostname: NODE,
          version: 'v1.36.0',
          startedAt: TIME,
          renewedAt: TIME,
          ageSeconds: 100_000,
          silentSeconds: 100_000,
          alive: false,
          cache: {revision: 81_234, confirmedAt: TIME, ageSeconds: 100_000},
          digests: {},
          issuanceLog: {},
        },
      ],
      certificates: {certificates: [], certificateAuthorities: []},
      objects: [{resource: 'certificatesigningrequests.certificates.k8s.io', count: 1}],
    }),
  'certificate simulate': () =>
    shows(simulationView, {
      node: NODE,
      ways: [
        {
          by: 'the bootstrap credential 3f9a2c81d0b4',
          requester: 'system:serviceaccount:openshift-machine-config-operator:node-bootstrapper',
          outcome: 'refused',
          problems: [WHY],
          approvers: [],
        },
      ],
    }),
  join: () =>
    shows(joinView, {
      nodeName: 'worker-1',
      certificate: '/var/lib/trustadm-node/pki/kubelet-client-current.pem',
      kubeconfig: '/var/lib/trustadm-node/kubelet.conf',
      notAfter: LATER,
      clusterInfo: {server: 'https://10.0.0.1:6443', caCertHashes: [PIN]},
      dir: '/var/lib/trustadm-node',
    }),
}

describe('what commands print on a terminal', () => {
  testWidths(VIEWS)

  it('has whole pins in "ca show", which people compare', async () => {
    const text = await atWidth(80, () => shows(authorityView, ADDED_CA))
    const shown = text.split('\n').map((line) => line.trim())
    for (const {pin} of ADDED_CA.certificates) assert.ok(shown.includes(pin), text)
  })
})
