import {getHeapStatistics} from 'node:v8'
import {KUBERNETES_VERSION, VERSION} from '../../version.ts'
import type {MetricsRegistry} from './registry.ts'

const MICROSECONDS = 1e6
const MILLISECONDS = 1e3

const one = (value: number) => [{labels: [], value}]

/** The process metrics of every Prometheus client, and the build. */
export function processMetrics(registry: MetricsRegistry): void {
  registry.measured(
    {name: 'process_cpu_seconds_total', help: 'CPU time used, user and system'},
    'counter',
    () => {
      const {user, system} = process.cpuUsage()
      return one((user + system) / MICROSECONDS)
    },
  )
  registry.measured({name: 'process_resident_memory_bytes', help: 'Memory in use'}, 'gauge', () => {
    try {
      return one(process.memoryUsage.rss())
    } catch {
      // No descriptor is left to read it with; the other figures are needed now.
      return []
    }
  })
  registry.measured(
    {name: 'process_start_time_seconds', help: 'When the process started, in Unix time'},
    'gauge',
    () => one(performance.timeOrigin / MILLISECONDS),
  )
  registry.measured(
    {name: 'nodejs_heap_used_bytes', help: 'Memory that live and not yet collected objects use'},
    'gauge',
    () => one(getHeapStatistics().used_heap_size),
  )
  registry.measured(
    {
      name: 'trustadm_build_info',
      help: 'Always 1; the labels say what runs',
      labels: ['version', 'kubernetes_version', 'node_version'],
    },
    'gauge',
    () => [{labels: [VERSION, KUBERNETES_VERSION, process.version], value: 1}],
  )
  registry.measured(
    {
      name: 'nodejs_eventloop_active_seconds_total',
      help: 'Time that the one thread which serves every request was busy',
    },
    'counter',
    () => one(performance.eventLoopUtilization().active / MILLISECONDS),
  )
}

/** How many objects of a resource are stored. */
interface ObjectCount {
  group: string
  plural: string
  count: number
}

/** The store's contents, counted when the metrics are read. */
export function storageMetrics(
  registry: MetricsRegistry,
  {
    objects,
    revision,
    usage,
  }: {
    objects: () => Iterable<ObjectCount>
    revision: () => number
    /** Undefined if the store cannot tell. */
    usage: () => {live: number; history: number} | undefined
  },
): void {
  registry.measured(
    {
      name: 'apiserver_storage_objects',
      help: 'Stored objects, by resource',
      labels: ['resource'],
    },
    'gauge',
    function* () {
      for (const {group, plural, count} of objects()) {
        yield {labels: [group === '' ? plural : `${plural}.${group}`], value: count}
      }
    },
  )
  registry.measured(
    {
      name: 'trustadm_storage_revision',
      help: 'The newest revision of the store that the server has seen',
    },
    'gauge',
    () => [{labels: [], value: revision()}],
  )
  registry.measured(
    {
      name: 'trustadm_storage_bytes',
      help: 'Bytes of what is stored, and of what is kept as history',
      labels: ['kind'],
    },
    'gauge',
    () => Object.entries(usage() ?? {}).map(([kind, value]) => ({labels: [kind], value})),
  )
}
