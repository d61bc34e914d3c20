import {hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import type {Storage} from '../storage/storage.ts'
import {type AuditLog, openAuditLog} from './audit/audit-log.ts'
import type {Retention} from './audit/rotating-file.ts'
import type {RequestInfo} from './authz/request-info.ts'
import {createHealth, type Health, type HealthCheck} from './health/health.ts'
import type {ApiRequest} from './kernel/api-request.ts'
import type {Resource} from './kernel/resource.ts'
import {processMetrics, storageMetrics} from './metrics/process-metrics.ts'
import {MetricsRegistry} from './metrics/registry.ts'
import type {RequestLabels} from './metrics/request-metrics.ts'
import type {Registry} from './registry/registry.ts'

export interface ObservationOptions {
  storage: Storage
  clock: Clock
  /** Absent: no audit log. */
  audit?: {path: string} & Partial<Retention>
  /** What else has to work before the server is ready. */
  readiness?: readonly Omit<HealthCheck, 'endpoints'>[]
  /** Called with internal errors, for the server's log. */
  onError: (message: string, error: unknown) => void
}

/** How a server reports about itself: audit log, metrics and health. */
export interface Observation {
  audit: AuditLog
  metrics: MetricsRegistry
  health: Health
  /** To be called once the default roles and bindings exist. */
  policyIsThere(): void
}

export function createObservation(
  {storage, clock, audit: auditOptions, readiness = [], onError}: ObservationOptions,
  registry: Registry,
): Observation {
  const audit = openAuditLog(
    auditOptions && {
      ...auditOptions,
      clock,
      onError: (error) => onError('cannot write the audit log', error),
    },
  )
  let hasPolicy = false
  // As kube-apiserver names it.
  const storeName = storage.isShared === true ? 'etcd' : 'storage'
  const health = createHealth([
    // A restart does not bring a store back that others have too, and asking it takes longer than a probe waits.
    ...(storage.isShared === true ? [] : [alive(storage)]),
    {name: storeName, check: () => storage.check(), endpoints: ['readyz']},
    {name: 'cache', check: () => registry.age.require(), endpoints: ['readyz']},
    {name: 'audit-log', check: () => audit.check(), endpoints: ['readyz']},
    {
      name: 'poststarthook/rbac/bootstrap-roles',
      check: () => {
        if (!hasPolicy) throw new Error('not finished')
      },
      endpoints: ['healthz', 'readyz'],
    },
    ...readiness.map((one): HealthCheck => ({...one, endpoints: ['readyz']})),
  ])
  const policyIsThere = () => {
    hasPolicy = true
  }
  return {audit, metrics: metricsOf(storage, registry), health, policyIsThere}
}

function metricsOf(storage: Storage, registry: Registry): MetricsRegistry {
  const metrics = new MetricsRegistry()
  processMetrics(metrics)
  storageMetrics(metrics, {
    objects: () =>
      Array.from(registry.stores, ({resource: {group, plural}, size}) => ({
        group,
        plural,
        count: size,
      })),
    revision: () => registry.revision,
    usage: () => storage.usage?.(),
  })
  return metrics
}

/** A restart helps if the store no longer responds, but not if the disk is full: that affects only readiness. */
const alive = (storage: Storage): HealthCheck => ({
  name: 'storage',
  endpoints: ['healthz', 'livez'],
  async check() {
    try {
      await storage.check()
    } catch (error) {
      if (!hasCode(error, 'STORE_WRITE_FAILED')) throw error
    }
  },
})

const VERBS: Record<string, string> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

const OTHER: RequestLabels = {
  verb: 'other',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  scope: '',
  dryRun: false,
}

/** Describes requests in the labels of kube-apiserver's metrics. Callers may ask for any path; only served ones become labels. */
export function createRequestLabels(
  resources: readonly Resource[],
): (request: ApiRequest, info: RequestInfo | undefined) => RequestLabels {
  const served = new Set(
    resources.flatMap(({group, plural, version, extraVersions = [], subresources = {}}) =>
      [version, ...extraVersions.map((extra) => extra.version)].flatMap((one) =>
        ['', ...Object.keys(subresources)].map((sub) => `${group}/${one}/${plural}/${sub}`),
      ),
    ),
  )
  return (request, info) => {
    const verb = VERBS[info?.verb ?? ''] ?? 'other'
    if (info?.kind !== 'resource') return {...OTHER, verb}
    const {group, version, resource, subresource} = info
    if (!served.has(`${group}/${version}/${resource}/${subresource}`)) return {...OTHER, verb}
    const apply =
      verb === 'PATCH' && request.headers['content-type']?.includes('apply-patch') === true
    return {
      verb: apply ? 'APPLY' : verb,
      group,
      version,
      resource,
      subresource,
      scope: info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster',
      dryRun: request.query.has('dryRun'),
    }
  }
}
