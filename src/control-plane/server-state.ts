import {constants, rm, writeFile} from 'node:fs/promises'
import {isDiskFull, messageOf, TrustError} from '../errors.ts'
import {readFileIfThere, writeFileSafely} from '../fs/files.ts'
import {lockHolder} from '../fs/folder-lock.ts'
import {sleep} from '../runtime.ts'
import {fileOf, type Plane} from './config/plane.ts'
import {processIdentity} from './process-identity.ts'
import type {KnownProcess, Runner} from './runner.ts'

/** What a running server records about itself in its folder. */
export interface ServerState extends KnownProcess {
  port: number
  endpoint: string
  startedAt: string
  /** Absent for a server of an earlier version. */
  runner?: Runner
}

function isState(value: unknown): value is ServerState {
  const state = value as Partial<ServerState> | null
  return (
    typeof state === 'object' &&
    Number.isInteger(state?.pid) &&
    Number.isInteger(state?.port) &&
    typeof state?.identity === 'string'
  )
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

async function readServerState(plane: Pick<Plane, 'dir'>): Promise<ServerState | undefined> {
  const content = await readFileIfThere(fileOf(plane, 'server'))
  const value = content && parseJson(content.toString())
  return isState(value) ? value : undefined
}

export const isAlive = async ({pid, identity}: KnownProcess): Promise<boolean> =>
  (await processIdentity(pid)) === identity

/** The server that runs from this folder, ready or not; undefined if there is none. */
export async function findServer(plane: Pick<Plane, 'dir'>): Promise<ServerState | undefined> {
  const state = await readServerState(plane)
  return state && (await isAlive(state)) ? state : undefined
}

/** The process that will restart a background server which has crashed; undefined if the server runs, or nothing restarts it. */
export async function findSupervisor(plane: Pick<Plane, 'dir'>): Promise<KnownProcess | undefined> {
  const state = await readServerState(plane)
  const supervisor = state?.runner?.supervisor
  if (!supervisor || (await isAlive(state))) return undefined
  return (await isAlive(supervisor)) ? supervisor : undefined
}

export async function isRunning(plane: Pick<Plane, 'dir'>): Promise<boolean> {
  return (await findServer(plane)) !== undefined
}

export async function writeServerState(plane: Plane, state: ServerState): Promise<void> {
  await writeFileSafely(fileOf(plane, 'server'), `${JSON.stringify(state, undefined, 2)}\n`)
}

/** If the next server has already started, the file belongs to it and stays. */
export async function removeServerState(plane: Plane, pid: number): Promise<void> {
  if ((await readServerState(plane))?.pid !== pid) return
  await rm(fileOf(plane, 'server'), {force: true})
}

/** Removes the record of a server that has ended without doing it itself. */
export async function removeDeadState(plane: Plane): Promise<void> {
  const state = await readServerState(plane)
  if (state && !(await isAlive(state))) await removeServerState(plane, state.pid)
}

/** What a server that could not start, or not yet, leaves for the command that started it in the background. */
export interface StartFailure {
  message: string
  hints: string[]
  /** However deep in the server it was met: one sentence says all that there is to do. */
  diskIsFull: boolean
  /** The server runs, and starts once the reason is gone. */
  isWaiting: boolean
}

/** In bytes. More than an error and its hints take. */
const RECORD_SIZE = 4096

/** Takes the room for the record before there is a failure: that may be a disk that is full. */
export async function reserveStartFailure(plane: Plane): Promise<void> {
  await writeFileSafely(fileOf(plane, 'startFailure'), ' '.repeat(RECORD_SIZE))
}

/** Best effort: the disk may be what fails, and the error itself is in the log. */
export async function writeStartFailure(
  plane: Plane,
  error: unknown,
  {isWaiting = false} = {},
): Promise<void> {
  const hints = error instanceof TrustError ? error.suggestions : []
  const diskIsFull = isDiskFull(error)
  const failure: StartFailure = {message: messageOf(error), hints, diskIsFull, isWaiting}
  const text = `${JSON.stringify(failure)}\n`.padEnd(RECORD_SIZE)
  const path = fileOf(plane, 'startFailure')
  // In place, where room was reserved.
  await writeFile(path, text, {flag: constants.O_WRONLY | constants.O_NOFOLLOW})
    .catch(() => writeFileSafely(path, text))
    .catch(() => undefined)
}

export async function removeStartFailure(plane: Plane): Promise<void> {
  await rm(fileOf(plane, 'startFailure'), {force: true})
}

export async function readStartFailure(plane: Plane): Promise<StartFailure | undefined> {
  const content = await readFileIfThere(fileOf(plane, 'startFailure'))
  const value = content && (parseJson(content.toString()) as Partial<StartFailure> | null)
  if (typeof value?.message !== 'string' || !Array.isArray(value.hints)) return undefined
  const {message, hints, diskIsFull, isWaiting} = value
  return {
    message,
    hints: hints.map(String),
    diskIsFull: diskIsFull === true,
    isWaiting: isWaiting === true,
  }
}

const START_LIMIT = 5000
const PAUSE = 50

/**
 * The server of the folder. Waits for one that is starting: it uses the store but has not written server.json yet, for example
 * because `init` was killed.
 */
export async function findServerInTime(
  plane: Pick<Plane, 'dir'>,
): Promise<ServerState | undefined> {
  const end = performance.now() + START_LIMIT
  for (;;) {
    const server = await findServer(plane)
    if (server !== undefined || performance.now() > end) return server
    if (!(await lockHolder(fileOf(plane, 'store')))) return await findServer(plane)
    await sleep(PAUSE)
  }
}

/** A process that uses the store without a server.json: the file was removed. */
export async function findStray(plane: Pick<Plane, 'dir'>): Promise<TrustError | undefined> {
  const holder = await lockHolder(fileOf(plane, 'store'))
  if (!holder) return undefined
  const {pid} = holder
  return new TrustError(
    'STORE_LOCKED',
    `${pid === undefined ? 'a process' : `process ${pid}`} uses the store, but there is no server.json for it`,
    {
      hints: [
        `${fileOf(plane, 'server')} is missing: ${pid === undefined ? 'end that process' : `end it with "kill ${pid}"`}, then run the command again`,
      ],
      facts: pid === undefined ? {} : {pid},
    },
  )
}
