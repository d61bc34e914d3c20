import type {ApiClient} from '../client/api-client.ts'
import {TrustError, messageOf} from '../errors.ts'
import {endpointOf, memoryOf, type Plane} from './config/plane.ts'
import {startEmbedded, type EmbeddedOptions, type EmbeddedPlane} from './embedded.ts'
import {followMemory} from './process-memory.ts'
import {processIdentity} from './process-identity.ts'
import {ownRunner} from './runner.ts'
import {asStartFailure} from './start-failure.ts'
import {removeServerState, writeServerState, writeStartFailure} from './server-state.ts'

const GRACE = 10_000

export interface ServeOptions extends Omit<EmbeddedOptions, 'begin'> {
  /** Works beside the server, once that is ready, until the signal, as a client of it. */
  alongside?: (client: ApiClient, beside: Beside) => Promise<void>
}

interface Beside {
  signal: AbortSignal
  /** Lets the server use the files as they are now. */
  reload: () => Promise<void>
}

export interface RunningPlane {
  endpoint: string
  port: number
  /** Fulfilled once a signal has ended the server and everything is on the disk; rejected if the objects have moved to another store. */
  ended: Promise<void>
}

async function startOrRecord(plane: Plane, options: EmbeddedOptions): Promise<EmbeddedPlane> {
  try {
    return await startEmbedded(plane, options)
  } catch (error) {
    const failure = await asStartFailure(plane, error)
    await writeStartFailure(plane, failure)
    throw failure
  }
}

/**
 * A server logs messages and never stack traces. Node.js makes an error for each connection that its caller closes, as each machine
 * does that has joined, and formats its trace: 2 % of the processor time of a join.
 */
function withoutStackTraces(): () => void {
  const {stackTraceLimit} = Error
  Error.stackTraceLimit = 0
  return () => {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Runs the control plane of a folder in this process until SIGTERM or SIGINT; SIGHUP rereads its certificates. */
export async function serve(plane: Plane, options: ServeOptions): Promise<RunningPlane> {
  const {clock, log} = options
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const described = Promise.all([processIdentity(process.pid), ownRunner(plane)])
  const embedded = await startOrRecord(plane, {...options, begin: begun})
  const restoreTraces = withoutStackTraces()
  // Not before: it would collect again and again while the store is loaded.
  const unfollowMemory = followMemory(memoryOf(plane), (error) =>
    log(`error: cannot read how much memory is used: ${messageOf(error)}`),
  )
  const endpoint = endpointOf(plane)
  const [identity, runner] = await described
  if (identity === undefined) throw new TrustError('INTERNAL', 'this process cannot be found')
  const reload = () => {
    embedded.reload().then(
      () => log('certificates were reread'),
      (error: unknown) =>
        log(`error: certificates were not reread, the old ones stay in use: ${messageOf(error)}`),
    )
  }
  process.on('SIGHUP', reload)

  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(name))
  })
  // Last: a command that reads it may send signals at once.
  await writeServerState(plane, {
    pid: process.pid,
    identity,
    port: embedded.port,
    endpoint,
    startedAt: clock.now().toISOString(),
    runner,
  })
  const stop = new AbortController()
  let beside: Promise<void> | undefined
  // Once the caller has said that the server is ready.
  setImmediate(() => {
    begin()
    if (stop.signal.aborted) return
    embedded.followKubeconfigs()
    beside = options.alongside?.(embedded.client, {
      signal: stop.signal,
      reload: () => embedded.reload(),
    })
  })

  const ended = Promise.race([signalled, embedded.moved]).then(async (why) => {
    const cause = typeof why === 'string' ? why : `error: ${messageOf(why.reason)}`
    log(`${cause}: finishing what is in flight`)
    stop.abort(new Error('the server is stopping'))
    await beside
    await embedded.close(GRACE)
    unfollowMemory()
    restoreTraces()
    process.off('SIGHUP', reload)
    await removeServerState(plane, process.pid)
    log('stopped')
    if (typeof why !== 'string') throw why.reason
  })
  return {endpoint, port: embedded.port, ended}
}
