import assert from 'node:assert/strict'
import type {GoClient, Protocol} from './go-client.ts'
import {SECRETS, tokenSecret} from './kubeadm-objects.ts'
import {nodeRequest, requestBody, REQUESTS, watchList, type NodeRequest} from './kubelet-objects.ts'
import {asAdmin, asNobody, type TraceCluster} from './trace-cluster.ts'
import type {WatchedObject} from './watch-stream.ts'

const SECRET = 'p4wz8k0vq6mxr2lt'

export interface StoredRequest extends WatchedObject {
  spec: {
    request: string
    username: string
    groups: string[]
    signerName: string
    usages: string[]
  }
  status: {certificate?: string; conditions?: {type: string; reason: string; message: string}[]}
}

export interface Issued {
  certificate: string
  /** Why it was approved. */
  message: string
}

/** A kubelet that holds bootstrap-kubelet.conf, with a token of its own. */
export async function bootstrapKubelet(
  cluster: TraceCluster,
  protocol: Protocol,
  id: string,
): Promise<GoClient> {
  const admin = asAdmin(cluster, protocol, 'kubeadm')
  try {
    await admin.post(SECRETS, tokenSecret(id, SECRET))
  } finally {
    await admin.close()
  }
  return asNobody(cluster, protocol, 'kubelet').with({ca: cluster.ca, bearer: `${id}.${SECRET}`})
}

/** Waits for the certificate of a request as client-go does: a list, then a watch that begins with one. */
export async function waitForCertificate(client: GoClient, name: string): Promise<Issued> {
  const selector = `metadata.name=${name}`
  const {object} = await client.get(`${REQUESTS}?fieldSelector=${encodeURIComponent(selector)}`)
  const {kind, items} = object as unknown as {kind: string; items: StoredRequest[]}
  assert.equal(kind, 'CertificateSigningRequestList')
  assert.deepEqual(
    items.map(({metadata}) => metadata.name),
    [name],
  )
  const watch = await client.watch(watchList(REQUESTS, selector))
  try {
    const [initial] = await watch.initialEvents()
    assert.equal(initial?.type, 'ADDED')
    assert.equal(initial.object.kind, 'CertificateSigningRequest')
    assert.equal(initial.object.apiVersion, 'certificates.k8s.io/v1')
    const isIssued = (one: WatchedObject) =>
      (one as Partial<StoredRequest>).status?.certificate !== undefined
    const issued = await watch.find((event) => isIssued(event.object))
    const {status} = issued.object as StoredRequest
    const approval = status.conditions?.find(({type}) => type === 'Approved')
    assert.equal(approval?.reason, 'AutoApproved')
    const certificate = Buffer.from(status.certificate ?? '', 'base64').toString()
    return {certificate, message: approval.message}
  } finally {
    watch.close()
  }
}

/** Asks for a certificate as the kubelet's certificate manager does, and waits for it. */
export async function askWithManager(client: GoClient, asked: NodeRequest): Promise<Issued> {
  const answer = await client.post(REQUESTS, requestBody({generateName: 'csr-'}, asked))
  const {metadata} = answer.object as unknown as StoredRequest
  assert.match(metadata.name ?? '', /^csr-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  return waitForCertificate(client, metadata.name ?? '')
}

/** A kubelet that has got its own identity, through a bootstrap of its own. */
export async function kubeletOf(
  cluster: TraceCluster,
  protocol: Protocol,
  node: string,
  id: string,
): Promise<GoClient> {
  const bootstrap = await bootstrapKubelet(cluster, protocol, id)
  try {
    const asked = await nodeRequest(node)
    const {certificate} = await askWithManager(bootstrap, asked)
    const credentials = {certificate, key: asked.key}
    return asNobody(cluster, protocol, 'kubelet').with({ca: cluster.ca, credentials})
  } finally {
    await bootstrap.close()
  }
}
