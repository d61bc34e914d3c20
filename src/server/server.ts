import type {AddressRange} from '../pki/address-range.ts'
import type {Live} from '../trust/live.ts'
import type {Trust} from '../trust/trust.ts'
import {createAccess, type Access, type AccessOptions} from './access.ts'
import {createAdmission, eventRateLimit} from './admission/index.ts'
import {certificateRevocation} from './admission/certificates.ts'
import {allowances, requestLimit} from './admission/request-limit.ts'
import {RequestUsage} from './admission/request-usage.ts'
import {SeenClientsFile} from './authn/seen-clients-file.ts'
import {BootstrapTrust, clientAuthoritiesPem, type Extended} from './bootstrap-trust.ts'
import {createDocuments} from './documents.ts'
import {EventRetention} from './event-retention.ts'
import {feedDeletedNodes, feedRequestCounts, feedTokenMetrics} from './feeds.ts'
import {createHandler} from './handler.ts'
import {Descriptors} from './http/descriptors.ts'
import {Listener, type HttpLimits} from './http/listener.ts'
import type {Handler} from './kernel/api-request.ts'
import type {MetricsRegistry} from './metrics/registry.ts'
import type {Resource} from './kernel/resource.ts'
import {memoryLimits} from './limits/memory-budget.ts'
import {ProcessorSlice} from './limits/processor-slice.ts'
import {Turns} from './limits/turns.ts'
import {RequestLimiter, type RequestLimits} from './limits/request-limiter.ts'
import {CertificateRequestMetrics, TokenMetrics} from './metrics/object-metrics.ts'
import {connectionMetrics} from './metrics/connection-metrics.ts'
import {requestMetrics} from './metrics/request-metrics.ts'
import {
  createObservation,
  createRequestLabels,
  type Observation,
  type ObservationOptions,
} from './observation.ts'
import {Ownership} from './ownership.ts'
import {createResourceEndpoint} from './registry/endpoint.ts'
import {askStore, catchUp} from './registry/freshness.ts'
import type {MemoryAgeOptions} from './registry/memory-age.ts'
import {Registry, type CacheState} from './registry/registry.ts'
import {RouteTable} from './registry/route-table.ts'
import {StoreQuota} from './registry/store-quota.ts'
import {createResources} from './resources/index.ts'
import {ensureSystemObjects, republishTrust, trustPublisher} from './system-objects.ts'

/** The parts of the trust state that the server needs. */
export type ServerTrust = Omit<Trust, 'authorities'>

export interface ServerOptions extends Omit<AccessOptions, 'seen' | 'trust'>, ObservationOptions {
  host: string
  /** 0: the system picks one. */
  port: number
  /** The host that clients should use. */
  advertiseAddress: string
  /** A new generation applies from the next request on, also on open connections; new connections get the new certificate, and delegated authenticators the new CAs. */
  trust: Live<ServerTrust>
  /** Where services get their addresses from; the first one is that of `default/kubernetes`. */
  serviceRange: AddressRange
  /** Where the client certificates in use are remembered; absent: in memory only. */
  seenClientsFile?: string | undefined
  /** Documents to serve beside its own, by their paths, which RBAC allows to administrators only. */
  documents?: Readonly<Record<string, () => Promise<object>>> | undefined
  /** How old the memory of the store may be. */
  memoryAge?: MemoryAgeOptions
  limits?: {
    http?: Partial<HttpLimits>
    requests?: Partial<RequestLimits>
    /** For each requester that is not a node. */
    certificateRequestsPerHour?: number | undefined
    /** The most bytes that all objects may take. */
    quotaBytes?: number | undefined
    /** In bytes: what everything else may take. */
    memory?: number | undefined
  }
}

export interface RunningServer {
  port: number
  /** The server as a function, for clients in the same process. */
  handler: Handler
  /** What `/metrics` shows; others in the process may add to it. */
  metrics: MetricsRegistry
  /** Which objects belong to which others, for the garbage collector. */
  ownership: Ownership
  /** How old its memory of the store is. */
  cache(): CacheState
  close(graceMilliseconds: number): Promise<void>
}

/** The parts that serve requests. */
interface Parts {
  trust: Live<Extended<ServerTrust>>
  access: Access
  seen: SeenClientsFile
  resources: readonly Resource[]
  /** The store's content in memory. */
  registry: Registry
  observation: Observation
  /** Stops following the trust state. */
  unfollow: () => void
  /** Shared by connections and requests. */
  slice: ProcessorSlice
  descriptors: Descriptors
}

async function openParts(options: ServerOptions): Promise<Parts> {
  const trust = new BootstrapTrust(options.trust, options.onError)
  const {clock, onError} = options
  const seen = await SeenClientsFile.open({path: options.seenClientsFile, clock, onError})
  const access = createAccess({...options, trust, seen})
  const resources = createResources(access.services, options.serviceRange)
  const registry = await Registry.open(options.storage, resources, {
    windowBytes: memoryLimits(options.limits?.memory).windowBytes,
    age: options.memoryAge,
    onError,
  }).catch(async (error: unknown) => {
    await seen.close()
    throw error
  })
  access.follow(registry)
  feedDeletedNodes(registry, (name) => seen.nodeDeleted(name))
  const unfollow = trust.follow(registry)
  const descriptors = new Descriptors()
  const readiness = [
    ...(options.readiness ?? []),
    // Anybody can open connections: that must not take the server out of a load balancer.
    {name: 'descriptors', check: () => descriptors.check(), isAdvisory: true},
  ]
  const observation = createObservation({...options, readiness}, registry)
  const slice = new ProcessorSlice()
  return {trust, unfollow, access, seen, resources, registry, observation, slice, descriptors}
}

async function closeParts({access, seen, registry, observation, unfollow}: Parts): Promise<void> {
  unfollow()
  access.answers.close()
  registry.close()
  await observation.audit.close()
  await seen.close()
}

/** Creates, reads and changes objects. */
function resourceEndpoint(
  {clock, limits, trust}: ServerOptions,
  {access: {authorize, rbac, revoked}, observation: {metrics}, registry, resources, slice}: Parts,
) {
  const usage = new RequestUsage()
  const isSigner = (name: string) => trust.current.signing.has(name)
  feedRequestCounts(registry, usage, new CertificateRequestMetrics(metrics, isSigner))
  feedTokenMetrics(registry, new TokenMetrics(metrics, clock))
  const further = [
    eventRateLimit(),
    requestLimit(usage, {
      allowances: allowances(limits?.certificateRequestsPerHour),
      catchUp: () => catchUp(registry),
    }),
    certificateRevocation(revoked),
  ]
  return createResourceEndpoint({
    registry,
    quota: new StoreQuota(registry, limits?.quotaBytes),
    ...createAdmission(rbac, further, (signer) => trust.current.loginSigners.has(signer)),
    routes: new RouteTable(resources),
    authorize,
    clock,
    random: Math.random,
    turns: new Turns(slice),
  })
}

/** `port` is called once the server listens. */
function assembleHandler(options: ServerOptions, parts: Parts, port: () => number): Handler {
  const {clock, limits, tokenIssuer, trust, advertiseAddress, onError} = options
  const {access, seen, registry, resources, observation, slice} = parts
  const {audit, metrics, health} = observation
  return createHandler({
    authenticate: access.authenticate,
    authorize: access.authorize,
    registry,
    answers: access.answers,
    limiter: new RequestLimiter(
      clock,
      {...memoryLimits(limits?.memory), ...limits?.requests},
      slice,
    ),
    audit,
    metrics: requestMetrics(metrics),
    labelsOf: createRequestLabels(resources),
    clock,
    serveResource: resourceEndpoint(options, parts),
    serveDocument: createDocuments({
      resources,
      health,
      metrics,
      issuer: tokenIssuer,
      tokenKeys: () => trust.current.tokenKeys,
      seen,
      more: options.documents,
      serverAddress: () => `${advertiseAddress}:${port()}`,
    }),
    onInternalError: (error, {method, path}) => onError(`${method} ${path}`, error),
  })
}

const tlsOf = (trust: Extended<ServerTrust>) => ({
  ...trust.serving,
  clientAuthorities: clientAuthoritiesPem(trust),
})

/** Loads the store into memory, listens, and creates the objects that every cluster has. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const {host, serviceRange, onError} = options
  const parts = await openParts(options)
  const {trust, access, registry, observation, slice, descriptors} = parts
  const handler = assembleHandler(options, parts, () => listener.port)
  const limits = {...memoryLimits(options.limits?.memory), ...options.limits?.http}
  const tls = tlsOf(trust.current)
  const onLimit = connectionMetrics(observation.metrics, {
    open: () => listener.openConnections,
    held: () => listener.heldBytes,
  })
  const listener = await Listener.start({
    handler,
    host,
    port: options.port,
    tls,
    limits,
    slice,
    descriptors,
    onLimit,
  }).catch(async (error: unknown) => {
    await closeParts(parts)
    throw error
  })
  const {port} = listener
  const retention = new EventRetention(registry, options.clock, (error) =>
    onError('cannot delete old events', error),
  )
  const stopRetention = retention.start()
  const objects = registry
  const publishTrust = trustPublisher({handler, objects, trust})
  const followers = [
    registry.age.follow({
      ask: () => askStore(registry),
      onOld: (error) => {
        onError('requests get 503 until the store responds', error)
        access.answers.endAll(error)
      },
    }),
    trust.subscribe((changed) => {
      listener.setTls(tlsOf(changed))
      access.answers.changed('all')
    }),
    republishTrust(trust, publishTrust, (error) =>
      onError('cannot publish the CAs and signers', error),
    ),
  ]
  const close = async (graceMilliseconds: number) => {
    for (const leave of followers) leave()
    observation.health.beginShutdown()
    stopRetention()
    await listener.close(graceMilliseconds)
    await closeParts(parts)
  }
  try {
    const serviceAddress = serviceRange.first
    await ensureSystemObjects({handler, objects, publishTrust, serviceAddress, port})
    observation.policyIsThere()
  } catch (error) {
    await close(0)
    throw error
  }
  const ownership = new Ownership()
  ownership.follow(registry)
  const cache = () => registry.cache()
  return {port, handler, metrics: observation.metrics, ownership, cache, close}
}
