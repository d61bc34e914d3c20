import type {TokenKeys} from '../trust/token-keys.ts'
import {KUBERNETES_VERSION, VERSION} from '../version.ts'
import {PAGE_NOT_FOUND, type ApiRequest, type ApiResponse} from './kernel/api-request.ts'
import type {SeenClientsFile} from './authn/seen-clients-file.ts'
import {createDiscovery} from './discovery/discovery.ts'
import type {Health} from './health/health.ts'
import {METRICS_CONTENT_TYPE, type MetricsRegistry} from './metrics/registry.ts'
import {createOpenapi} from './openapi/documents.ts'
import type {Resource} from './kernel/resource.ts'
import {methodNotAllowed, unknownResource} from './kernel/status.ts'

export interface DocumentDeps {
  resources: readonly Resource[]
  health: Health
  metrics: MetricsRegistry
  issuer: string
  tokenKeys: () => TokenKeys
  seen: Pick<SeenClientsFile, 'list'>
  /** More of them, by their paths. */
  more?: Readonly<Record<string, () => Promise<object>>> | undefined
  /** The `host:port` that clients should use; called once the server listens. */
  serverAddress: () => string
}

/** Kubernetes serves these outside of its API's routes, which know GET only. */
const ANSWERS_HEAD = /^\/(?:(?:healthz|livez|readyz|metrics|openapi)(?:\/|$)|$)/

/** Allowed to cluster-admin only: it shows who else there is, and from where. */
const SEEN_CLIENTS_PATH = '/trustadm/seen-clients'

const JSON_TYPE = 'application/json'

const json = (document: object, contentType = JSON_TYPE): ApiResponse => ({
  status: 200,
  headers: {'Content-Type': contentType, 'Cache-Control': 'no-cache, private'},
  body: JSON.stringify(document),
})

const JWKS_PATH = '/openid/v1/jwks'
const DISCOVERY_PATH = '/.well-known/openid-configuration'

/** What relying parties read to verify service-account tokens. */
export function openidConfiguration(issuer: string, jwksUri: string, keys: TokenKeys) {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [
      ...new Set(keys.verification.map(({algorithm}) => algorithm)),
    ].sort(),
  }
}

/** The public keys as a JSON Web Key Set (`application/jwk-set+json`). */
export function jsonWebKeySet(keys: TokenKeys) {
  return {
    keys: keys.verification.map(({id, key, algorithm}) => ({
      use: 'sig',
      kty: key.asymmetricKeyType === 'rsa' ? 'RSA' : 'EC',
      kid: id,
      alg: algorithm,
      ...key.export({format: 'jwk'}),
    })),
  }
}

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = {x64: 'amd64', ia32: '386'}

/** Kubernetes' builds without a date of their own carry the epoch's. */
const NO_BUILD_DATE = '1970-01-01T00:00:00Z'

/** `/version`: the Kubernetes release that this server behaves like, marked as a build of trustadm. */
export function versionDocument() {
  const [major = '', minor = ''] = KUBERNETES_VERSION.slice(1).split('.')
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `${KUBERNETES_VERSION}+trustadm.${VERSION}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: NO_BUILD_DATE,
    // Clients only display these two, so they describe the real program.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${ARCHITECTURES[process.arch] ?? process.arch}`,
  }
}

/** Every path that has a document, as `/` lists them. */
function indexOf(resources: readonly Resource[], fixed: string[]): string[] {
  const groups = resources.flatMap(({group, version, extraVersions = []}) => {
    const root = group === '' ? '/api' : `/apis/${group}`
    const versions = [version, ...extraVersions.map((extra) => extra.version)]
    return [root, ...versions.map((one) => `${root}/${one}`)]
  })
  const others = ['/apis', '/healthz', '/livez', '/readyz', '/openapi/v2', '/openapi/v3']
  return [...new Set([...groups, ...others, ...fixed])].sort()
}

/** Serves the paths that are no resource: discovery, OpenAPI, health, version, metrics, the issuer's documents. */
export function createDocuments(
  deps: DocumentDeps,
): (request: ApiRequest, path: string) => Promise<ApiResponse> | ApiResponse {
  const groups = new Set(deps.resources.map(({group}) => group).filter(Boolean))
  const openapi = createOpenapi(deps.resources)
  let discovery: ReturnType<typeof createDiscovery> | undefined
  const fixed: Record<string, () => ApiResponse | Promise<ApiResponse>> = {
    '/version': () => json(versionDocument()),
    '/metrics': () => ({
      status: 200,
      headers: {'Content-Type': METRICS_CONTENT_TYPE},
      body: deps.metrics.text(),
    }),
    [SEEN_CLIENTS_PATH]: () => json(deps.seen.list()),
    [DISCOVERY_PATH]: () =>
      json(openidConfiguration(deps.issuer, `${deps.issuer}${JWKS_PATH}`, deps.tokenKeys())),
    [JWKS_PATH]: () => json(jsonWebKeySet(deps.tokenKeys()), 'application/jwk-set+json'),
  }

  for (const [path, read] of Object.entries(deps.more ?? {}))
    fixed[path] = async () => json(await read())
  const paths = indexOf(deps.resources, Object.keys(fixed))
  fixed['/'] = () => json({paths})

  return (request, path) => {
    const target = {...request, path}
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    discovery ??= createDiscovery(deps.resources, deps.serverAddress())
    const answer =
      deps.health.respond(target) ??
      (Object.hasOwn(fixed, trimmed) ? fixed[trimmed]?.() : undefined) ??
      discovery(target) ??
      openapi(target)
    if (answer !== undefined) {
      const isHead = request.method === 'HEAD' && ANSWERS_HEAD.test(path)
      if (request.method !== 'GET' && !isHead) throw methodNotAllowed()
      return answer
    }
    const [, root, group = ''] = path.split('/')
    if (root === 'api' || (root === 'apis' && groups.has(group))) throw unknownResource()
    return PAGE_NOT_FOUND
  }
}
