import type {MetricsRegistry} from './registry.ts'

/**
 * What a limit of connections did: refused a new one, because its address made too many handshakes or because there was no room, closed
 * one that was unused, idle or in use to make room for a new one, or closed one whose requests took most memory.
 */
const LIMITS = [
  'refused-handshakes',
  'refused-connections',
  'closed-unused',
  'closed-idle',
  'closed-busy',
  'closed-costly',
] as const

export type ConnectionLimit = (typeof LIMITS)[number]

/** Returns what counts a connection that a limit refused or closed. */
export function connectionMetrics(
  registry: MetricsRegistry,
  {open, held}: {open: () => number; held: () => number},
): (what: ConnectionLimit) => void {
  registry.measured(
    {name: 'trustadm_open_connections', help: 'Connections that are open now, handshakes included'},
    'gauge',
    () => [{labels: [], value: open()}],
  )
  registry.measured(
    {
      name: 'trustadm_held_request_bytes',
      help: 'What requests hold that are open now, except watches, with their headers and short responses',
    },
    'gauge',
    () => [{labels: [], value: held()}],
  )
  const limited = registry.counter({
    name: 'trustadm_limited_connections_total',
    help: 'Connections refused or closed by a limit',
    labels: ['outcome'],
  })
  // From the start, so that an alert sees the first one.
  for (const outcome of LIMITS) limited.add([outcome], 0)
  return (outcome) => limited.add([outcome])
}
