import type {MetricsRegistry} from './registry.ts'

/** How many objects of a resource are stored. */
export interface ObjectCount {
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
