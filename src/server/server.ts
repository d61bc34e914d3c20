import type {KeyObject} from 'node:crypto'
import type {AddressRange} from '../pki/address-range.ts'
import {nodeUser} from '../csr/node-names.ts'
import {parseBundle} from '../pki/bundle.ts'
import type {Clock} from '../runtime.ts'
import type {Storage} from '../storage/storage.ts'
import {createTokenKeys} from '../trust/token-keys.ts'
import {createAdmission} from './admission/index.ts'
import {eventRateLimit} from './admission/event-rate-limit.ts'
import {allowances, requestLimit} from './admission/request-limit.ts'
import {RequestUsage} from './admission/request-usage.ts'
import type {ApiRequest, Handler} from './kernel/api-request.ts'
import {openAuditLog} from './audit/audit-log.ts'
import type {Retention} from './audit/rotating-file.ts'
import {createAuthenticator} from './authn/authenticator.ts'
import type {BearerAuthenticator} from './authn/bearer.ts'
import {bootstrapTokenAuthenticator} from './authn/bootstrap-tokens.ts'
import {createCertificateAuthenticator, type ClientTrust} from './authn/client-certificates.ts'
import {createServerServices} from './authn/server-services.ts'
import {serviceAccountAuthenticator} from './authn/service-account-tokens.ts'
import {createAuthorize} from './authz/authorizer.ts'
import {nodeAuthorizer} from './authz/node/node-authorizer.ts'
import {NodeGraph} from './authz/node/node-graph.ts'
import {RbacIndex} from './authz/rbac/rbac-index.ts'
import {startCompaction} from './compaction.ts'
import {createDocuments} from './documents.ts'
import {EventRetention} from './event-retention.ts'
import {createHandler} from './handler.ts'
import {createHealth, type HealthCheck} from './health/index.ts'
import {Listener, type HttpLimits, type TlsMaterial} from './http/listener.ts'
import {RequestLimiter, type RequestLimits} from './limits/request-limiter.ts'
import {MetricsRegistry, processMetrics, requestMetrics, storageMetrics} from './metrics/index.ts'
import {feedNodeGraph} from './node-graph-feed.ts'
import {OpenAnswers} from './open-answers.ts'
import {feedOpenAnswers} from './open-answers-feed.ts'
import {feedRbacIndex} from './rbac-feed.ts'
import {createResourceEndpoint} from './registry/endpoint.ts'
import {Registry} from './registry/registry.ts'
import {StoreQuota} from './registry/store-quota.ts'
import {RouteTable} from './registry/route-table.ts'
import {createRequestLabels} from './request-labels.ts'
import {feedRequestUsage} from './request-usage-feed.ts'
import {createResources} from './resources/index.ts'
import {ensureSystemObjects, publishAuthorities} from './system-objects.ts'

export interface ServerOptions {
  storage: Storage
  host: string
  /** 0: the system picks one. */
  port: number
  /** `host` that clients are told to use. */
  advertiseAddress: string
  tls: TlsMaterial
  /** The CAs that client certificates are checked against, PEM. */
  clientAuthorities: string
  frontProxyAuthorities?: string
  /** Whether clients are known by the CA that a signer signs with; those for clients always count. */
  believesSigner?: (signerName: string) => boolean
  serviceAccount: {issuer: string; signingKey: KeyObject; alsoBelieved?: KeyObject[]}
  /** Where services get their addresses from; the first one is that of `default/kubernetes`. */
  serviceRange: AddressRange
  clock: Clock
  /** No audit log where absent. */
  audit?: {path: string} & Partial<Retention>
  /** What else has to work before the server is ready. */
  readiness?: readonly Omit<HealthCheck, 'endpoints'>[]
  limits?: {
    http?: Partial<HttpLimits>
    requests?: Partial<RequestLimits>
    /** For each requester that is no node. */
    certificateRequestsPerHour?: number | undefined
    /** What all objects may take. */
    quotaBytes?: number | undefined
  }
  /** Told of what goes wrong inside, for the server's log. */
  onError: (message: string, error: unknown) => void
}

export interface RunningServer {
  port: number
  /** The server as a function, for clients in the same process. */
  handler: Handler
  setTls(tls: TlsMaterial): void
  /** From the next request on, open connections included; delegated authenticators are told too. */
  setClientAuthorities(pem: string): Promise<void>
  close(graceMilliseconds: number): Promise<void>
}

/** Opens the store's content, listens, and makes what must be there by itself. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const {storage, clock, onError, serviceAccount} = options
  const tokenKeys = createTokenKeys(serviceAccount.signingKey, serviceAccount.alsoBelieved)
  const audiences = [serviceAccount.issuer]
  const index = new RbacIndex()
  const requestUsage = new RequestUsage()
  let trust: ClientTrust = {roots: parseBundle(options.clientAuthorities), generation: 0}

  // Filled once memory is loaded: the table of resources needs them, and they need what the table describes.
  const bearers: BearerAuthenticator[] = []
  const authenticate = createAuthenticator({
    certificates: createCertificateAuthenticator(() => trust),
    bearers,
    audiences,
    clock,
  })
  const answers = new OpenAnswers(authenticate, clock)
  const nodeGraph = new NodeGraph((node) => answers.changed({user: nodeUser(node)}))
  const tokens = {issuers: [serviceAccount.issuer] as [string], keys: () => tokenKeys, clock}
  const resources = createResources(
    createServerServices({index, bearers, audiences, tokens}),
    options.serviceRange,
  )
  const registry = await Registry.open(storage, resources, (key) =>
    onError('left out of what is served', new Error(`${key} in the store cannot be read`)),
  )
  feedRbacIndex(registry, index)
  feedRequestUsage(registry, requestUsage)
  feedNodeGraph(registry, nodeGraph)
  feedOpenAnswers(registry, answers)
  bearers.push(
    serviceAccountAuthenticator({...tokens, objects: registry}),
    bootstrapTokenAuthenticator({objects: registry, clock}),
  )

  const metrics = new MetricsRegistry()
  processMetrics(metrics)
  storageMetrics(metrics, {
    objects: () =>
      Array.from(registry.stores, ({resource: {group, plural}, size}) => ({
        group,
        plural,
        count: size,
      })),
    revision: () => storage.revision(),
    usage: () => storage.usage(),
  })
  let policyReady = false
  const health = createHealth([
    // A restart gives a full disk no room: only readiness depends on it.
    {name: 'storage', check: () => void storage.revision(), endpoints: ['healthz', 'livez']},
    {name: 'storage', check: () => storage.check(), endpoints: ['readyz']},
    {name: 'audit-log', check: () => audit.check(), endpoints: ['readyz']},
    {
      name: 'poststarthook/rbac/bootstrap-roles',
      check: () => {
        if (!policyReady) throw new Error('not finished')
      },
      endpoints: ['healthz', 'readyz'],
    },
    ...(options.readiness ?? []).map((one): HealthCheck => ({...one, endpoints: ['readyz']})),
  ])
  const audit = openAuditLog(
    options.audit && {
      ...options.audit,
      clock,
      onError: (error) => onError('cannot write the audit log', error),
    },
  )
  const authorize = createAuthorize(index, [nodeAuthorizer(nodeGraph)])
  const handler = createHandler({
    authenticate,
    answers,
    authorize,
    limiter: new RequestLimiter(clock, options.limits?.requests),
    audit,
    metrics: requestMetrics(metrics),
    labelsOf: createRequestLabels(resources),
    clock,
    serveResource: createResourceEndpoint({
      registry,
      quota: new StoreQuota(registry, options.limits?.quotaBytes),
      ...createAdmission(
        index,
        [
          eventRateLimit(),
          requestLimit(requestUsage, allowances(options.limits?.certificateRequestsPerHour)),
        ],
        options.believesSigner,
      ),
      routes: new RouteTable(resources),
      authorize,
      clock,
      random: Math.random,
    }),
    serveDocument: createDocuments({
      resources,
      health,
      metrics,
      issuer: serviceAccount.issuer,
      tokenKeys: () => tokenKeys,
      serverAddress: () => `${options.advertiseAddress}:${listener.port}`,
    }),
    onInternalError: (error, {method, path}: ApiRequest) => onError(`${method} ${path}`, error),
  })

  const listener = await Listener.start({
    handler,
    host: options.host,
    port: options.port,
    tls: options.tls,
    ...(options.limits?.http === undefined ? {} : {limits: options.limits.http}),
  }).catch(async (error: unknown) => {
    registry.close()
    await audit.close()
    throw error
  })
  const stopCompaction = startCompaction(storage, clock, (error) =>
    onError('cannot compact the store', error),
  )
  const retention = new EventRetention(registry, clock, (error) =>
    onError('cannot delete old events', error),
  )
  const stopRetention = retention.start()

  const close = async (graceMilliseconds: number) => {
    health.beginShutdown()
    stopCompaction()
    stopRetention()
    await listener.close(graceMilliseconds)
    answers.close()
    registry.close()
    await audit.close()
  }
  const {frontProxyAuthorities} = options
  const published = {handler, objects: registry, frontProxyAuthorities}
  try {
    await ensureSystemObjects({
      ...published,
      serviceAddress: options.serviceRange.first,
      port: listener.port,
      clientAuthorities: options.clientAuthorities,
    })
    policyReady = true
  } catch (error) {
    await close(0)
    throw error
  }
  return {
    port: listener.port,
    handler,
    setTls: (tls) => listener.setTls(tls),
    async setClientAuthorities(pem) {
      trust = {roots: parseBundle(pem), generation: trust.generation + 1}
      answers.changed('all')
      await publishAuthorities({...published, clientAuthorities: pem})
    },
    close,
  }
}
