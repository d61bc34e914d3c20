import {createHash, createPrivateKey, createPublicKey} from 'node:crypto'
import {createRequest} from '../../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {goProtobuf, type Message} from './go-protobuf.ts'

export const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet'
const USAGES = ['digital signature', 'client auth']

/** What a reflector of client-go 1.36 asks for instead of a list. */
export const watchList = (collection: string, fieldSelector = ''): string => {
  const query = new URLSearchParams({
    allowWatchBookmarks: 'true',
    ...(fieldSelector && {fieldSelector}),
    resourceVersionMatch: 'NotOlderThan',
    sendInitialEvents: 'true',
    timeoutSeconds: '384',
    watch: 'true',
  })
  return `${collection}?${query.toString()}`
}

/** A key and a request for the identity of a node, both made on it. */
export interface NodeRequest {
  key: string
  request: string
  /** The name the kubelet gives the request where it has no certificate manager. */
  name: string
}

export async function nodeRequest(node: string): Promise<NodeRequest> {
  const subject = {commonName: `system:node:${node}`, organizations: ['system:nodes']}
  const keys = await generateKeys('ECDSA-P256')
  const key = privateKeyPem(keys.privateKey)
  const request = await createRequest(subject, keys)
  const spki = createPublicKey(createPrivateKey(key)).export({type: 'spki', format: 'der'})
  const hash = createHash('sha512-256')
  const parts = [spki, subject.commonName, ...subject.organizations, ...USAGES]
  for (const part of parts) hash.update(`${Buffer.from(part).toString('base64url')}|`)
  return {key, request, name: `node-csr-${hash.digest('base64url')}`}
}

/** The body of a request: named, or with the beginning of a name. */
export const requestBody = (
  metadata: Message,
  {request}: NodeRequest,
  spec: Message = {},
): Buffer =>
  goProtobuf('certificates.k8s.io/v1', 'CertificateSigningRequest', {
    metadata,
    spec: {request: Buffer.from(request), signerName: CLIENT_SIGNER, usages: USAGES, ...spec},
  })

const CONDITIONS = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
  type,
  status: 'False',
  reason: `KubeletHasNo${type}`,
  message: 'kubelet has enough of it',
}))

/** A Node as the kubelet registers it, with its whole status. */
export function nodeBody(name: string, now: Date): Buffer {
  const times = {lastHeartbeatTime: now, lastTransitionTime: now}
  const resources = {cpu: '2', memory: '4030684Ki', pods: '110', 'ephemeral-storage': '61255492Ki'}
  const platform = {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
  }
  const ready = {
    type: 'Ready',
    status: 'False',
    reason: 'KubeletNotReady',
    message: 'container runtime network not ready',
  }
  return goProtobuf('v1', 'Node', {
    metadata: {
      name,
      labels: platform,
      annotations: {'volumes.kubernetes.io/controller-managed-attach-detach': 'true'},
    },
    status: {
      capacity: resources,
      allocatable: {...resources, memory: '3928284Ki'},
      conditions: [...CONDITIONS, ready].map((condition) => ({...condition, ...times})),
      addresses: [
        {type: 'InternalIP', address: '192.0.2.7'},
        {type: 'Hostname', address: name},
      ],
      daemonEndpoints: {kubeletEndpoint: {Port: 10_250}},
      nodeInfo: {
        machineID: 'f1f2',
        systemUUID: 'f3f4',
        bootID: 'f5f6',
        kernelVersion: '6.8.0',
        osImage: 'Example Linux',
        containerRuntimeVersion: 'containerd://2.1.0',
        kubeletVersion: 'v1.36.4',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: [{names: ['example.test/pause:3.10'], sizeBytes: 320_368}],
    },
  })
}

export const leaseBody = (
  name: string,
  uid: string,
  renewTime: Date,
  metadata: Message = {},
): Buffer =>
  goProtobuf('coordination.k8s.io/v1', 'Lease', {
    metadata: {
      name,
      namespace: 'kube-node-lease',
      ownerReferences: [{apiVersion: 'v1', kind: 'Node', name, uid}],
      ...metadata,
    },
    spec: {holderIdentity: name, leaseDurationSeconds: 40, renewTime},
  })

export const eventBody = (node: string, now: Date): Buffer =>
  goProtobuf('v1', 'Event', {
    metadata: {name: `${node}.18a1b2c3d4e5f607`, namespace: 'default'},
    involvedObject: {kind: 'Node', name: node, uid: node},
    reason: 'Starting',
    message: 'Starting kubelet.',
    source: {component: 'kubelet', host: node},
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
    type: 'Normal',
    reportingComponent: 'kubelet',
    reportingInstance: node,
  })
