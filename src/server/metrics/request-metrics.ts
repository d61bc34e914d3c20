import type {MetricsRegistry} from './registry.ts'

/** A request in labels; only values from the table of resources, so that callers cannot create new series. */
export interface RequestLabels {
  /** Kubernetes' name in capitals: GET, LIST, WATCH, POST, PUT, PATCH, APPLY, DELETE, DELETECOLLECTION. */
  verb: string
  group: string
  version: string
  resource: string
  subresource: string
  scope: '' | 'cluster' | 'namespace' | 'resource'
  dryRun: boolean
}

export interface RequestMetrics {
  /** A request has arrived. Call the returned function when it has been served. */
  started: (kind: 'mutating' | 'readOnly') => () => void
  finished: (labels: RequestLabels, code: number, seconds: number) => void
  /** A watch has begun. Call the returned function when it ends. */
  watchStarted: (labels: RequestLabels) => () => void
  /** A caller was refused because of a limit. */
  rejected: (reason: string) => void
  /** A watch was ended because others needed its place. */
  watchReclaimed: () => void
}

/** kube-apiserver's bounds, so that its dashboards and alerts work. */
const SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
]
const WATCH_LABELS = ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version']
const REQUEST_LABELS = ['component', 'dry_run', ...WATCH_LABELS.slice(1)]
const COMPONENT = 'apiserver'

const watchLabels = ({group, resource, scope, subresource, verb, version}: RequestLabels) => [
  COMPONENT,
  group,
  resource,
  scope,
  subresource,
  verb,
  version,
]

/** Counts requests under the names that kube-apiserver gives them. */
export function requestMetrics(registry: MetricsRegistry): RequestMetrics {
  const total = registry.counter({
    name: 'apiserver_request_total',
    help: 'Requests served, by verb, resource and HTTP status code',
    labels: ['code', ...REQUEST_LABELS],
  })
  const duration = registry.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'How long requests took, watches left out',
    labels: REQUEST_LABELS,
    buckets: SECONDS,
  })
  const inFlight = registry.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests being served now, watches left out',
    labels: ['request_kind'],
  })
  const longRunning = registry.gauge({
    name: 'apiserver_longrunning_requests',
    help: 'Watches that are open now',
    labels: WATCH_LABELS,
  })
  const refused = registry.counter({
    name: 'trustadm_rejected_requests_total',
    help: 'Requests refused by a limit',
    labels: ['reason'],
  })
  const reclaimed = registry.counter({
    name: 'trustadm_reclaimed_watches_total',
    help: 'Watches ended at a limit, because others needed their place',
  })
  reclaimed.add([], 0)
  for (const reason of ['requests', 'watches']) refused.add([reason], 0)
  for (const kind of ['mutating', 'readOnly']) inFlight.set([kind], 0)

  return {
    started: (kind) => {
      inFlight.add([kind])
      return () => inFlight.add([kind], -1)
    },
    finished: (labels, code, seconds) => {
      const {dryRun, group, resource, scope, subresource, verb, version} = labels
      const values = [
        COMPONENT,
        dryRun ? 'All' : '',
        group,
        resource,
        scope,
        subresource,
        verb,
        version,
      ]
      total.add([String(code), ...values])
      if (verb !== 'WATCH') duration.observe(values, seconds)
    },
    watchStarted: (labels) => {
      const values = watchLabels(labels)
      longRunning.add(values)
      return () => longRunning.add(values, -1)
    },
    rejected: (reason) => refused.add([reason]),
    watchReclaimed: () => reclaimed.add([]),
  }
}
