import {setMaxListeners} from 'node:events'
import type {ApiClient} from '../client/api-client.ts'
import {Leader, type SharedNotes} from '../controllers/leader.ts'
import {messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {onceAMinute} from './once-a-minute.ts'

interface Running {
  /** Fulfilled once it has read everything it works on. */
  synced?: Promise<void>
  close(): Promise<void>
}

/** The Lease in trustadm-system by which the servers of a control plane agree whose controllers run. */
export const SIGNERS_LEASE = 'trustadm-serve'

interface LeadingOptions {
  client: Pick<ApiClient, 'leases'>
  /** Of what leads, for the log. */
  name: string
  /** The Lease in trustadm-system. */
  lease: string
  identity: string
  clock: Clock
  /** What those who lead tell each other in the Lease. */
  shared?: SharedNotes | undefined
  log: (line: string) => void
}

/** Starts what leads; `leads` tells whether the Lease is still held for sure. */
type Start = (leads: () => boolean) => Running

/** Runs controllers while this process holds the Lease. Creates them again each time, because they know only what they have watched. */
async function runAsLeader(
  start: Start,
  {client, name, lease, identity, clock, shared, log}: LeadingOptions,
  signal: AbortSignal,
  /** Called once: they run and have read everything, or another process leads. */
  onDecided: () => void = () => undefined,
): Promise<void> {
  const logFailure = onceAMinute(log, clock)
  const leader = new Leader({
    leases: client.leases,
    name: lease,
    identity,
    clock,
    shared,
    onError: (error) => logFailure(`error: ${name}: the lease: ${messageOf(error)}`),
  })
  while (!signal.aborted) {
    let isTold = false
    await leader.acquire(signal, () => {
      if (!isTold) log(`${name}: another process leads; waiting for its lease`)
      isTold = true
      onDecided()
    })
    log(`${name}: leads`)
    const running = start(() => leader.isSure)
    void running.synced?.then(onDecided, onDecided)
    try {
      await leader.keep(signal)
    } finally {
      await running.close()
    }
    await leader.release()
    log(`${name}: stopped leading`)
  }
}

/** Starts something when what it needs is there. */
export function startAfter(
  prepare: (signal: AbortSignal) => Promise<void>,
  start: () => Running,
): {synced: Promise<void>; close(): Promise<void>} {
  const stop = new AbortController()
  // Each of many calls at a time adds a listener.
  setMaxListeners(0, stop.signal)
  let running: Running | undefined
  const started = prepare(stop.signal).then(() => {
    if (!stop.signal.aborted) running = start()
  })
  const synced = started.then(() => running?.synced)
  // Nobody may be waiting for it.
  synced.catch(() => undefined)
  return {
    synced,
    async close() {
      stop.abort(new Error('the controllers are stopping'))
      await started.catch(() => undefined)
      await running?.close()
    },
  }
}

/** As `runAsLeader`, until it is closed. */
export function startAsLeader(
  start: Start,
  options: LeadingOptions,
): {synced: Promise<void>; close(): Promise<void>} {
  const stop = new AbortController()
  let decide: () => void = () => undefined
  const synced = new Promise<void>((resolve) => {
    decide = resolve
  })
  const ended = runAsLeader(start, options, stop.signal, decide).catch((error: unknown) => {
    if (!stop.signal.aborted) options.log(`error: ${options.name}: ${messageOf(error)}`)
  })
  return {
    synced,
    async close() {
      stop.abort(new Error('the controllers are stopping'))
      await ended
    },
  }
}
