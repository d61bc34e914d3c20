import {createRequest} from '../../../src/pki/create.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {accessSamples} from './access.ts'
import {clusterSamples} from './cluster-scoped.ts'
import {coreSamples} from './core.ts'
import type {Sample} from './sample.ts'

const LABELS = {suite: 'samples'}

const lease: Sample = {
  plural: 'leases',
  said: 'lease.coordination.k8s.io',
  manifest: {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {name: 'leader', labels: LABELS},
    spec: {
      holderIdentity: 'first',
      leaseDurationSeconds: 15,
      renewTime: '2026-01-01T00:00:00.123456Z',
    },
  },
  wide: {header: 'NAME HOLDER AGE', row: 'leader first AGE'},
  describes: ['Name: leader', 'Holder Identity: first', 'Lease Duration Seconds: 15'],
  patch: {
    type: 'strategic',
    body: {spec: {holderIdentity: 'second'}},
    path: '{.spec.holderIdentity} {.spec.renewTime}',
    shows: 'second 2026-01-01T00:00:00.123456Z',
  },
}

const machine: Sample = {
  plural: 'machines',
  said: 'machine.machine.openshift.io',
  manifest: {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'Machine',
    metadata: {
      name: 'metal-1',
      labels: {
        ...LABELS,
        'machine.openshift.io/instance-type': 'm2',
        'machine.openshift.io/region': 'north',
        'machine.openshift.io/zone': 'north-a',
      },
    },
    spec: {providerID: 'metal:///1'},
  },
  wide: {
    header: 'NAME PHASE TYPE REGION ZONE AGE NODE PROVIDERID STATE',
    row: 'metal-1 m2 north north-a AGE metal:///1',
  },
  describes: ['Name: metal-1', 'Kind: Machine', 'Provider ID: metal:///1'],
  patch: {
    type: 'merge',
    body: {spec: {providerID: 'metal:///2'}},
    path: '{.spec.providerID}',
    shows: 'metal:///2',
  },
}

async function certificateRequest(prefix: string): Promise<Sample> {
  const request = await createRequest({commonName: 'ada'}, await generateKeys())
  const name = `${prefix}-csr`
  return {
    plural: 'certificatesigningrequests',
    said: 'certificatesigningrequest.certificates.k8s.io',
    manifest: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: {name, labels: LABELS},
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'example.test/people',
        expirationSeconds: 7200,
        usages: ['client auth'],
      },
    },
    wide: {
      header: 'NAME AGE SIGNERNAME REQUESTOR REQUESTEDDURATION CONDITION',
      row: `${name} AGE example.test/people kubernetes-admin AGE Pending`,
    },
    describes: [`Name: ${name}`, 'Requesting User: kubernetes-admin', 'Common Name: ada'],
    patch: {
      type: 'strategic',
      body: {metadata: {annotations: {why: 'new laptop'}}},
      path: '{.metadata.annotations.why}',
      shows: 'new laptop',
    },
  }
}

/** One object of every kind that is stored. */
export const everySample = async (prefix: string): Promise<Sample[]> => [
  ...coreSamples(prefix),
  ...clusterSamples(prefix),
  ...accessSamples(prefix),
  lease,
  await certificateRequest(prefix),
  machine,
]
