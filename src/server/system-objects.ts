import {isDeepStrictEqual} from 'node:util'
import type {ApiObject, Status} from '../api/meta.ts'
import {isWellKnownSigner} from '../csr/signers.ts'
import type {Live} from '../trust/live.ts'
import {OWN_NAMESPACE} from '../trust/own-namespace.ts'
import {REVOCATION_NAMES, REVOCATION_NAMESPACE} from '../trust/revocations.ts'
import type {Trust} from '../trust/trust.ts'
import type {ApiRequest, Handler} from './kernel/api-request.ts'
import {AUTHENTICATED_GROUP, MASTERS_GROUP} from './kernel/users.ts'
import {bootstrapPolicy, reconcile} from './authz/bootstrap-policy/index.ts'
import type {ObjectReader} from './kernel/resource.ts'
import {delegatedAuthoritiesPem, type Extended} from './bootstrap-trust.ts'

/** The server's own identity, for the objects that it creates. */
const CALLER = {username: 'system:apiserver', groups: [MASTERS_GROUP, AUTHENTICATED_GROUP]}

const RBAC = 'rbac.authorization.k8s.io'
const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default', OWN_NAMESPACE]

const ATTEMPTS = 5

export interface SystemObjectsOptions {
  handler: Handler
  objects: ObjectReader
  /** The first address of the service range. */
  serviceAddress: string
  /** The port that the server listens on. */
  port: number
  publishTrust: () => Promise<void>
}

/** Creates the objects that every cluster has, and repairs those that must be correct at each start. */
export async function ensureSystemObjects(options: SystemObjectsOptions): Promise<void> {
  const {objects} = options
  const write = writer(options.handler)
  const missing = NAMESPACES.filter((name) => objects.get('namespaces', '', '', name) === undefined)
  await Promise.all(missing.map((name) => write('POST', '/api/v1/namespaces', {metadata: {name}})))
  await Promise.all([
    ensurePolicy(objects, write),
    ensureKubernetesService(options, write),
    ensureRevocationList(objects, write),
  ])
  await options.publishTrust()
}

type Write = (method: string, path: string, body?: object) => Promise<void>

function writer(handler: Handler): Write {
  return async (method, path, body) => {
    const request: ApiRequest = {
      method,
      path,
      query: new URLSearchParams(),
      headers: {'content-type': 'application/json', 'user-agent': 'kube-apiserver'},
      rawHeaders: [],
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: '',
      signal: new AbortController().signal,
      caller: CALLER,
    }
    for (let attempt = 1; ; attempt++) {
      const {status, body: answer} = await handler(request)
      // Another server on the same store, or an attempt that was not confirmed, may have done it.
      if (status === 409 || status < 300 || (status === 404 && method === 'DELETE')) return
      // A store that is slow or away, which has waited already.
      if ((status === 503 || status === 504) && attempt < ATTEMPTS) continue
      // The response is a Status: its message is what an operator needs.
      const {message, details} = JSON.parse(answer as string) as Status
      const cause = {code: details?.causes?.[0]?.reason}
      throw new Error(`cannot ${method} ${path}: ${message}`, {cause})
    }
  }
}

async function ensurePolicy(objects: ObjectReader, write: Write): Promise<void> {
  const policy = bootstrapPolicy()
  const rows: [string, ApiObject[]][] = [
    ['clusterroles', policy.clusterRoles],
    ['clusterrolebindings', policy.clusterRoleBindings],
    ['roles', policy.roles],
    ['rolebindings', policy.roleBindings],
  ]
  await Promise.all(
    rows.flatMap(([plural, wanted]) =>
      wanted.map((object) => ensurePolicyObject(objects, write, plural, object)),
    ),
  )
}

async function ensurePolicyObject(
  objects: ObjectReader,
  write: Write,
  plural: string,
  wanted: ApiObject,
): Promise<void> {
  const {name = '', namespace = ''} = wanted.metadata
  const scope = namespace === '' ? '' : `/namespaces/${namespace}`
  const collection = `/apis/${RBAC}/v1${scope}/${plural}`
  const decided = reconcile(objects.get(plural, RBAC, namespace, name), wanted)
  if (decided.action === 'keep') return
  const path = `${collection}/${encodeURIComponent(name)}`
  if (decided.action === 'update') return write('PUT', path, withoutVersion(decided.object))
  if (decided.action === 'recreate') await write('DELETE', path)
  return write('POST', collection, decided.object)
}

const withoutVersion = ({metadata: {resourceVersion: _, ...metadata}, ...object}: ApiObject) => ({
  ...object,
  metadata,
})

/** The service by which pods find the API server; its port is corrected if the server has moved. */
async function ensureKubernetesService(
  {objects, serviceAddress, port}: SystemObjectsOptions,
  write: Write,
): Promise<void> {
  const path = '/api/v1/namespaces/default/services'
  const ports = [{name: 'https', port: 443, protocol: 'TCP', targetPort: port}]
  const existing = objects.get('services', '', 'default', 'kubernetes')
  if (existing === undefined) {
    await write('POST', path, {
      metadata: {name: 'kubernetes', labels: {component: 'apiserver', provider: 'kubernetes'}},
      spec: {clusterIP: serviceAddress, ports, sessionAffinity: 'None', type: 'ClusterIP'},
    })
    return
  }
  const spec = existing.spec as {ports?: {targetPort?: number}[]} | undefined
  if (spec?.ports?.length === 1 && spec.ports[0]?.targetPort === port) return
  await write('PUT', `${path}/kubernetes`, {...withoutVersion(existing), spec: {...spec, ports}})
}

/** Exists from the start, so that people who revoke certificates need no right to create ConfigMaps. */
async function ensureRevocationList(objects: ObjectReader, write: Write): Promise<void> {
  const [name = ''] = REVOCATION_NAMES
  if (objects.get('configmaps', '', REVOCATION_NAMESPACE, name) !== undefined) return
  await write('POST', `/api/v1/namespaces/${REVOCATION_NAMESPACE}/configmaps`, {metadata: {name}})
}

const AUTHENTICATION_CONFIG = 'extension-apiserver-authentication'

const SIGNER_ROLE = 'trustadm:csr-signer'

const RETRY = 10_000
/** As kube-apiserver. */
const CHECK_EVERY = 60_000

interface Published extends Pick<SystemObjectsOptions, 'handler' | 'objects'> {
  /** Whose bundles delegated authenticators read, and whose signers may sign. */
  trust: Live<Extended<Pick<Trust, 'bundles' | 'signing'>>>
}

/**
 * Publishes what is trusted, one time after the other: each compares what the one before has left with what is trusted by now. If they
 * overlapped, the older one could end last, and a CA that was withdrawn meanwhile would stay published.
 */
export function trustPublisher(published: Published): () => Promise<void> {
  const write = writer(published.handler)
  let last = Promise.resolve()
  return () => {
    const publish = last.then(async () => {
      // Also if one fails, the next one must not begin before the other has ended.
      const [authorities, signing] = await Promise.allSettled([
        publishAuthorities(published, write),
        allowSigning(published, write),
      ])
      for (const outcome of [authorities, signing])
        if (outcome.status === 'rejected') throw outcome.reason
    })
    last = publish.catch(() => undefined)
    return publish
  }
}

/** Lets csr-signer sign for the signers that an operator has added, and for those only; Kubernetes' role covers its own signers. */
async function allowSigning({objects, trust}: Published, write: Write): Promise<void> {
  const names = [...trust.current.signing.keys()].filter((name) => !isWellKnownSigner(name)).sort()
  const right = {verbs: ['sign'], apiGroups: ['certificates.k8s.io'], resources: ['signers']}
  const rules = names.length === 0 ? [] : [{...right, resourceNames: names}]
  const existing = objects.get('clusterroles', RBAC, '', SIGNER_ROLE)
  if (existing === undefined || isDeepStrictEqual(existing.rules ?? [], rules)) return
  const path = `/apis/${RBAC}/v1/clusterroles/${encodeURIComponent(SIGNER_ROLE)}`
  await write('PUT', path, {...withoutVersion(existing), rules})
}

/** What kube-controller-manager and others read to authenticate their own callers. */
async function publishAuthorities({objects, trust}: Published, write: Write): Promise<void> {
  const {'front-proxy': frontProxy} = trust.current.bundles
  const data: Record<string, string> = {
    'client-ca-file': delegatedAuthoritiesPem(trust.current),
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': frontProxy.pem,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  }
  const path = '/api/v1/namespaces/kube-system/configmaps'
  const existing = objects.get('configmaps', '', 'kube-system', AUTHENTICATION_CONFIG)
  const object = {metadata: {name: AUTHENTICATION_CONFIG}, data}
  if (existing === undefined) return write('POST', path, object)
  if (JSON.stringify(existing.data) !== JSON.stringify(data))
    await write('PUT', `${path}/${AUTHENTICATION_CONFIG}`, object)
}

/**
 * Publishes every new generation, soon again if that fails, and looks every minute: a write that was not confirmed may have been done
 * late. Returns a function that stops it.
 */
export function republishTrust(
  trust: Pick<Published['trust'], 'subscribe'>,
  publish: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  let next: NodeJS.Timeout | undefined
  let isStopped = false
  const schedule = (milliseconds: number) => {
    clearTimeout(next)
    if (!isStopped) next = setTimeout(() => void run(), milliseconds).unref()
  }
  const run = async () => {
    try {
      await publish()
      schedule(CHECK_EVERY)
    } catch (error) {
      onError(error)
      schedule(RETRY)
    }
  }
  schedule(CHECK_EVERY)
  const leave = trust.subscribe(run)
  return () => {
    isStopped = true
    leave()
    clearTimeout(next)
  }
}
