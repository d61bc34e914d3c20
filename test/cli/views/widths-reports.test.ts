import {backupView, restoreView, archiveView} from '../../../src/cli/views/backup.ts'
import {existingView} from '../../../src/cli/views/existing.ts'
import {expirationView} from '../../../src/cli/views/expiration.ts'
import {initView} from '../../../src/cli/views/init.ts'
import {joinPlaneView} from '../../../src/cli/views/join-plane.ts'
import {nodeStatusView} from '../../../src/cli/views/node-status.ts'
import {nodeHistoryView} from '../../../src/cli/views/nodes.ts'
import {renewalView} from '../../../src/cli/views/renewal.ts'
import {rejoinView} from '../../../src/cli/views/requests-done.ts'
import {requestView} from '../../../src/cli/views/requests-show.ts'
import {requestListView} from '../../../src/cli/views/requests.ts'
import {tokenView} from '../../../src/cli/views/token-show.ts'
import {CSR, DIGEST, LATER, NODE, NOW, PIN, SERIAL, SIGNER, TIME, WHY} from './width-samples.ts'
import {shows, testWidths} from './widths.ts'

const DIR = '/var/lib/trustadm'
const ENDPOINT = 'https://control-plane.eu-central-1.example.com:6443'
const JOIN = `trustadm join control-plane.eu-central-1.example.com:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash ${PIN}`

const APPROVERS = [
  {
    approver: 'nodeclient',
    decision: 'hold',
    reason: 'NodeNameTaken',
    rules: [
      {code: 'signer', rule: `the signer is ${SIGNER}`, holds: true, reason: ''},
      {code: 'node-name', rule: WHY, holds: false, reason: `a Node "${NODE}" exists`},
    ],
  },
]

const REQUEST = {
  name: CSR,
  uid: 'u',
  created: TIME,
  state: 'Pending',
  signer: SIGNER,
  usages: ['digital signature', 'key encipherment', 'client auth'],
  requestedSeconds: 3600,
  requester: `system:node:${NODE}`,
  labels: {},
  request: {
    subject: {commonName: `system:node:${NODE}`, organizations: ['system:nodes'], other: []},
    names: {dns: [NODE], ips: ['10.0.131.201'], emails: [], uris: []},
    key: {algorithm: 'ECDSA-P256', bits: 256, pin: PIN},
    signatureAlgorithm: 'ECDSA-SHA256',
  },
  pairingWords: 'academy account address advance',
  expires: LATER,
}

const CERTIFICATE = {
  expirationDate: LATER,
  residualSeconds: 3e7,
  current: true,
  externallyManaged: false,
  problems: [WHY],
  warnings: [WHY],
}

const REPORTS: Record<string, () => string | Promise<string>> = {
  init: () =>
    shows(initView(true), {
      endpoint: ENDPOINT,
      caCertHashes: [PIN, PIN],
      joinCommand: JOIN,
      controlPlaneJoinCommand: `${JOIN} --control-plane --certificate-key ${DIGEST}`,
      kubeconfig: `${DIR}/admin.conf`,
      dir: DIR,
    }),
  'init --skip-phases control-plane': () =>
    shows(initView(false), {
      endpoint: ENDPOINT,
      caCertHashes: [PIN],
      joinCommand: null,
      controlPlaneJoinCommand: null,
      kubeconfig: `${DIR}/admin.conf`,
      dir: DIR,
    }),
  'init --kubeconfig': () =>
    shows(existingView(String), {
      endpoint: ENDPOINT,
      caCertHashes: [PIN],
      joinCommand: JOIN,
      kubeconfig: '/etc/kubernetes/admin.conf',
      missingControllers: [],
      uncheckedControllers: [],
    }),
  'join --control-plane': () =>
    shows(joinPlaneView, {
      endpoint: ENDPOINT,
      kubeconfig: `${DIR}/admin.conf`,
      dir: DIR,
      server: 'apiserver-abcdefghijklmnopqrstuvwxyz',
    }),
  'certificate check-expiration': () =>
    shows(expirationView, {
      certificates: [
        {...CERTIFICATE, name: 'apiserver-kubelet-client', certificateAuthority: 'front-proxy-ca'},
        {
          ...CERTIFICATE,
          name: 'controller-manager.conf',
          certificateAuthority: 'front-proxy-ca',
          current: false,
          residualSeconds: -1,
        },
      ],
      certificateAuthorities: [{...CERTIFICATE, name: 'kubelet-serving-ca', signs: true}],
      rotation: {phase: 'Prepare', lastInitiation: TIME},
    }),
  'certificate renew': () =>
    shows(renewalView, {
      renewed: [{name: 'apiserver-kubelet-client', expirationDate: LATER}],
      skipped: ['apiserver-kubelet-client'],
      backups: [`${DIR}/pki/replaced`],
      serverReloaded: true,
    }),
  'certificate list': () =>
    shows(requestListView(false, NOW), {requests: [REQUEST, {...REQUEST, state: 'Approved'}]}),
  'certificate show': () =>
    shows(requestView(false, NOW), {
      ...REQUEST,
      requester: {username: REQUEST.requester, uid: '', groups: ['system:nodes'], extra: {}},
      conditions: [],
      adminRights: [{kind: 'group', name: 'people-who-look-after-the-storage-of-the-cluster'}],
      approvers: APPROVERS,
      signerProblems: [WHY],
      certificate: null,
      revoked: null,
      events: [],
      problems: [WHY],
    }),
  'certificate allow-rejoin': () =>
    shows(rejoinView, {node: NODE, allowedUntil: LATER, pin: PIN, requester: null, request: CSR}),
  'node status': () =>
    shows(nodeStatusView, {
      nodeName: NODE,
      dir: '/var/lib/trustadm-node',
      agent: null,
      source: 'files',
      clock: {aheadSeconds: 3e7, at: TIME},
      certificates: [
        {
          name: 'client',
          file: '/var/lib/trustadm-node/pki/kubelet-client-current.pem',
          state: 'not yet valid',
          serial: SERIAL,
          issuer: 'CN=kubernetes-of-the-cluster-in-eu-central-1,O=a company with a long name',
          notBefore: TIME,
          notAfter: LATER,
          residualSeconds: 3e7,
          deadline: LATER,
          isDue: true,
          lastRenewal: TIME,
          lastAttempt: TIME,
          lastError: {message: WHY, time: TIME},
          pendingRequest: CSR,
        },
      ],
      clusterInfo: {
        server: ENDPOINT,
        endpoints: [ENDPOINT, ENDPOINT],
        caCertHashes: [PIN, PIN],
        readAt: TIME,
        ageSeconds: 100_000,
        lastError: {message: WHY, time: TIME},
      },
    }),
  'node history': () =>
    shows(nodeHistoryView, {
      node: NODE,
      entries: ['joined', 'revoked'].map((what) => ({
        time: '2026-11-16T12:00:00.123Z',
        what,
        message: `serial ${SERIAL} of CN=kubernetes; ${WHY}; requested as ${CSR}`,
      })),
      waiting: [{request: CSR, approvers: APPROVERS}],
    }),
  'token show': () =>
    shows(tokenView, {
      id: '0k2f5a',
      token: {
        problems: [],
        created: TIME,
        expires: LATER,
        usages: ['authentication', 'signing'],
        groups: ['system:bootstrappers:kubeadm:default-node-token', 'system:bootstrappers:more'],
        description: WHY,
      },
      lastUsed: TIME,
      pending: [CSR],
      obtained: {file: '/log', nodes: [NODE], certificates: []},
    }),
  backup: () =>
    shows(backupView, {
      file: '/var/backups/trustadm-2026-11-17T120000Z.backup',
      kind: 'everything',
      store: 'embedded',
      keys: 12_345,
      files: 40,
      createdAt: TIME,
      program: '1.0.0',
      leftOut: ['/etc/pki/example/signing/ca.crt', '/etc/pki/example/signing/ca.key'],
      bytes: 2e9,
      encrypted: false,
      revision: 123_456,
      sha256: DIGEST,
    }),
  restore: () =>
    shows(restoreView(`trustadm start --dir ${DIR}`), {
      dir: DIR,
      createdAt: TIME,
      keys: 12_345,
      files: 40,
      store: 'etcd',
      unchanged: false,
      leftPrefix: '/trustadm',
      backupRevision: 123_456,
      revision: 1_123_456,
      kept: `${DIR}.before-restore-2026-11-17T120000Z`,
    }),
  'dry run of a restore': () =>
    shows(archiveView, {
      file: '/var/backups/trustadm-2026-11-17T120000Z.backup',
      kind: 'everything',
      store: 'embedded',
      keys: 12_345,
      files: 40,
      bytes: 2e9,
      encrypted: true,
      revision: 123_456,
      createdAt: TIME,
      program: '1.0.0',
      sha256: DIGEST,
    }),
}

describe('what commands report on a terminal', () => {
  testWidths(REPORTS)
})
