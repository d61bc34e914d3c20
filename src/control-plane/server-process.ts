import {spawn} from 'node:child_process'
import {closeSync, constants, fchmodSync, openSync} from 'node:fs'
import {connectTo} from '../client/connect.ts'
import {TrustError, messageOf} from '../errors.ts'
import {ensureFolder} from '../fs/folders.ts'
import {sleep} from '../runtime.ts'
import {cleanEnvironment, closeInheritedDescriptors, supervised} from './background-program.ts'
import {CLUSTER_CA, findAuthority} from './certificates.ts'
import {fileOf, localAccess, type Plane} from './config/plane.ts'
import {
  findServer,
  findStray,
  processIdentity,
  readStartFailure,
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
): Promise<ServerState> {
  const [command = process.execPath, ...before] = program
  const log = await openLog(plane)
  let ended = false
  let failure: StartFailure | undefined
  await reserveStartFailure(plane)
  try {
    closeInheritedDescriptors()
    const [shell, ...serve] = supervised([command, ...before, 'serve', '--dir', plane.dir])
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
      failure = {message: messageOf(error), hints: []}
    })
    child.unref()
  } finally {
    closeSync(log)
  }
  const state = await waitUntilReady(plane, START_LIMIT, async () => {
    if (!ended || (await findStray(plane))) return
    throw notStarted(plane, failure ?? (await readStartFailure(plane)))
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
    if (performance.now() > end) throw notReady(plane, limit, state)
    await sleep(PAUSE)
  }
}

function notReady(plane: Plane, limit: number, state: ServerState | undefined): TrustError {
  const hints = [`look at ${fileOf(plane, 'log')}`]
  if (state) hints.push(`or end it with "kill -9 ${state.pid}" and run the command again`)
  const which = state ? `the server (process ${state.pid})` : 'the server'
  return new TrustError('TIMED_OUT', `${which} was not ready within ${limit / 1000} s`, {hints})
}

/** However deep in the server it was met: one sentence says all that there is to do. */
const FULL = /ENOSPC|the disk is full/

function notStarted(plane: Plane, failure: StartFailure | undefined): TrustError {
  if (failure && FULL.test(failure.message)) {
    return new TrustError(
      'SERVER_NOT_STARTED',
      `the server did not start: the disk of ${plane.dir} is full`,
      {hints: ['free some space and run the command again; nothing acknowledged was lost']},
    )
  }
  return new TrustError(
    'SERVER_NOT_STARTED',
    `the server ended before it was ready${failure ? `: ${failure.message}` : ''}`,
    {hints: [...(failure?.hints ?? []), `look at ${fileOf(plane, 'log')}`]},
  )
}

/** Ends the server and waits until it is gone. */
export async function stopServer({pid, identity}: ServerState): Promise<void> {
  process.kill(pid, 'SIGTERM')
  const end = performance.now() + STOP_LIMIT
  while (performance.now() < end) {
    if ((await processIdentity(pid)) !== identity) return
    await sleep(PAUSE)
  }
  throw new TrustError('TIMED_OUT', `the server (process ${pid}) did not stop`, {
    hints: [`end it with "kill -9 ${pid}", then run the command again`],
  })
}

/** Tells a running server to reread its certificates. Returns whether there is one. */
export async function reloadServer(plane: Plane): Promise<boolean> {
  const state = await findServer(plane)
  if (state) process.kill(state.pid, 'SIGHUP')
  return state !== undefined
}
