import {spawn} from 'node:child_process'
import {closeSync, constants, fchmodSync, openSync} from 'node:fs'
import {connectTo} from '../client/connect.ts'
import {isDiskFull, messageOf, TrustError} from '../errors.ts'
import {lockHolder} from '../fs/folder-lock.ts'
import {ensureFolder} from '../fs/folders.ts'
import {sleep} from '../runtime.ts'
import {cleanEnvironment, closeInheritedDescriptors, supervised} from './background-program.ts'
import {CLUSTER_CA, findAuthority} from './certificates.ts'
import {fileOf, localAccess, type Plane} from './config/plane.ts'
import {membersOf} from './process-identity.ts'
import type {KnownProcess} from './runner.ts'
import {
  findServer,
  findStray,
  findSupervisor,
  isAlive,
  readStartFailure,
  removeDeadState,
  removeStartFailure,
  reserveStartFailure,
  type ServerState,
  type StartFailure,
} from './server-state.ts'

const START_LIMIT = 60_000
const READY_LIMIT = 15_000
const STOP_LIMIT = 60_000
const PAUSE = 25

/** The server's response to a probe from this machine, verified with the cluster's CA. */
export async function probe(plane: Plane, path: string, port: number): Promise<string> {
  const authority = await findAuthority(plane, CLUSTER_CA)
  const client = connectTo(
    {...localAccess(plane, port), ca: authority?.bundlePem},
    // The server is on this machine: never through a proxy.
    {environment: {}, retry: {attempts: 1}, timeout: 5000},
  )
  try {
    return await client.raw(path)
  } finally {
    await client.close()
  }
}

async function isReady(plane: Plane, {port}: ServerState): Promise<boolean> {
  try {
    return (await probe(plane, '/readyz', port)).trim() === 'ok'
  } catch {
    return false
  }
}

/** The log of the background server, readable by its owner only; the lines of earlier runs stay. */
async function openLog(plane: Plane): Promise<number> {
  await ensureFolder(fileOf(plane, 'logs'))
  const {O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY} = constants
  const log = openSync(fileOf(plane, 'log'), O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600)
  fchmodSync(log, 0o600)
  return log
}

/** Starts the server in a new session, so that it outlives this terminal, and waits until it is ready. */
export async function startInBackground(
  plane: Plane,
  program: readonly string[],
  limit = START_LIMIT,
): Promise<ServerState> {
  const [command = process.execPath, ...before] = program
  const log = await openLog(plane)
  let ended = false
  let failure: StartFailure | undefined
  await endFormerServer(plane)
  await reserveStartFailure(plane)
  try {
    closeInheritedDescriptors()
    const [shell, ...serve] = supervised(
      [command, ...before, 'serve', '--dir', plane.dir],
      fileOf(plane, 'server'),
    )
    const child = spawn(shell, serve, {
      detached: true,
      // Not the current folder of the operator, which could then not be unmounted.
      cwd: plane.dir,
      env: cleanEnvironment(process.env),
      stdio: ['ignore', log, log],
    })
    child.once('exit', () => (ended = true))
    child.once('error', (error) => {
      ended = true
      const diskIsFull = isDiskFull(error)
      failure = {message: messageOf(error), hints: [], diskIsFull, isWaiting: false}
    })
    child.unref()
  } finally {
    closeSync(log)
  }
  const state = await waitUntilReady(plane, limit, async () => {
    if (!ended || (await findStray(plane))) return
    throw notStarted(plane, failure ?? (await readStartFailure(plane)))
  })
  await removeStartFailure(plane)
  return state
}

/** Of a server that has ended unasked: what would restart it, and its file, which must not stand for the next one. */
async function endFormerServer(plane: Plane): Promise<void> {
  const supervisor = await findSupervisor(plane)
  if (supervisor) await stopSupervisor(supervisor)
  await removeDeadState(plane)
}

/** Waits until the server that systemd has just started is ready. */
export async function waitForUnit(
  plane: Plane,
  unit: string,
  limit = START_LIMIT,
): Promise<ServerState> {
  const state = await waitUntilReady(plane, limit, async () => {
    const failure = await readStartFailure(plane)
    if (failure && !failure.isWaiting)
      throw notStarted(plane, failure, `look at "journalctl -u ${unit}"`)
  })
  await removeStartFailure(plane)
  return state
}

/** Waits until a running server is ready. */
export async function waitForServer(plane: Plane): Promise<ServerState> {
  return await waitUntilReady(plane, READY_LIMIT, () => {
    throw new TrustError('SERVER_NOT_STARTED', 'the server ended before it was ready', {
      hints: ['run the command again to start it', `look at ${fileOf(plane, 'log')}`],
    })
  })
}

/** Calls `onAbsent` while there is no server. A server that a killed run has started counts too. */
async function waitUntilReady(
  plane: Plane,
  limit: number,
  onAbsent: () => void | Promise<void>,
): Promise<ServerState> {
  // By the clock, not by the number of attempts: a probe of a server that hangs takes long.
  const end = performance.now() + limit
  for (;;) {
    const state = await findServer(plane)
    if (state && (await isReady(plane, state))) return state
    if (!state) await onAbsent()
    if (performance.now() > end) throw await notReady(plane, limit, state)
    await sleep(PAUSE)
  }
}

async function notReady(
  plane: Plane,
  limit: number,
  state: ServerState | undefined,
): Promise<TrustError> {
  // A server that is there has started: what it waited for was before that.
  const failure = state ? undefined : await readStartFailure(plane)
  const hints = [...(failure?.hints ?? []), `look at ${fileOf(plane, 'log')}`]
  if (state) hints.push(`or end it with "kill -9 ${state.pid}" and run the command again`)
  const which = state ? `the server (process ${state.pid})` : 'the server'
  const reason = failure ? `: ${failure.message}` : ''
  const message = `${which} was not ready within ${limit / 1000} s${reason}`
  return new TrustError('TIMED_OUT', message, {hints})
}

function notStarted(
  plane: Plane,
  failure: StartFailure | undefined,
  look = `look at ${fileOf(plane, 'log')}`,
): TrustError {
  if (failure?.diskIsFull) {
    return new TrustError(
      'SERVER_NOT_STARTED',
      `the server did not start: the disk of ${plane.dir} is full`,
      {hints: ['free some space and run the command again; nothing acknowledged was lost']},
    )
  }
  return new TrustError(
    'SERVER_NOT_STARTED',
    `the server ended before it was ready${failure ? `: ${failure.message}` : ''}`,
    {hints: [...(failure?.hints ?? []), look]},
  )
}

/**
 * Ends the server and waits until it is gone. Sends a signal only to the process that wrote server.json: another one may have its
 * number by now.
 */
export async function stopServer(plane: Plane, state: ServerState): Promise<void> {
  const {pid, identity, runner} = state
  // Where the system does not tell when a process started, the lock of the store says whose it is.
  if (identity === '' && (await lockHolder(fileOf(plane, 'store')))?.pid !== pid) {
    throw new TrustError('CONFLICT', `cannot tell whether process ${pid} is the server`, {
      hints: [`if it is, end it with "kill ${pid}"`, `if not, remove ${fileOf(plane, 'server')}`],
    })
  }
  // Together with the server, so that a crash while it stops is not answered with a restart.
  if (runner?.supervisor) await stopSupervisor(runner.supervisor)
  if (await isAlive(state)) process.kill(pid, 'SIGTERM')
  await waitUntilGone(async () => ((await isAlive(state)) ? [pid] : []))
}

/**
 * Ends the process that restarts a background server after a crash, and all that it has started: a server that it has just
 * restarted is in no file yet. One signal to the group leaves no moment in which it could start another one.
 */
export async function stopSupervisor(supervisor: KnownProcess): Promise<void> {
  if (!(await isAlive(supervisor))) return
  const {pid} = supervisor
  const leads = (await membersOf(pid)).includes(pid)
  process.kill(leads ? -pid : pid, 'SIGTERM')
  await waitUntilGone(async () => {
    if (leads) return await membersOf(pid)
    return (await isAlive(supervisor)) ? [pid] : []
  })
}

async function waitUntilGone(remaining: () => Promise<number[]>): Promise<void> {
  const end = performance.now() + STOP_LIMIT
  for (;;) {
    const [pid] = await remaining()
    if (pid === undefined) return
    if (performance.now() > end) throw notStopped(pid)
    await sleep(PAUSE)
  }
}

const notStopped = (pid: number): TrustError =>
  new TrustError('TIMED_OUT', `the server (process ${pid}) did not stop`, {
    hints: [
      `end it with "kill -9 ${pid}", then run the command again; nothing acknowledged is lost`,
    ],
    facts: {pid},
  })

/** Tells a running server to reread its certificates. Returns whether there is one. */
export async function reloadServer(plane: Plane): Promise<boolean> {
  const state = await findServer(plane)
  if (state) process.kill(state.pid, 'SIGHUP')
  return state !== undefined
}
