import {existsSync, linkSync, readdirSync, rmSync} from 'node:fs'
import {createConnection, createServer} from 'node:net'
import type {Server} from 'node:net'
import {join} from 'node:path'
import {randomUUID} from 'node:crypto'
import {hasCode, systemCode, TrustError} from '../errors.ts'
import {sleep} from '../runtime.ts'
import {ensureFolder} from './folders.ts'
import {SocketAddresses} from './socket-addresses.ts'

const NAME = /^lock\.(\d+)$/
const ATTEMPTS = 20
const ANSWER_MILLISECONDS = 1_000
/** Longer than a first `init` takes on a slow machine. */
export const LONGEST_WAIT = 120_000
const PAUSE = 100

/**
 * Lets only one process use a folder. The lock is a listening socket in it: the kernel closes it with its process, however that
 * ends, and it works across containers that share the folder, where process ids mean nothing.
 *
 * The locks are numbered, and the highest one counts. A process that finds it without a listener takes the next number with a
 * hard link, which only one process can create: a dead lock is never replaced in place, so two processes cannot both take it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const sockets = new SocketFolder(folder)
  const own = `lock-${randomUUID().slice(0, 8)}`
  let server: Server | undefined
  try {
    server = await sockets.listen(own)
    const number = await acquire(folder, sockets, own)
    for (const other of lockNumbers(folder)) {
      if (other < number) rmSync(join(folder, `lock.${other}`), {force: true})
    }
  } catch (error) {
    if (server) await closed(server)
    sockets.close()
    throw error
  } finally {
    rmSync(join(folder, own), {force: true})
  }
  const held = server
  return async () => {
    await closed(held)
    sockets.close()
  }
}

export interface LockWait {
  /** What the other process works on, as in "the same control plane". */
  what: string
  /** Gets a line if another process holds the lock. */
  tell?: ((line: string) => void) | undefined
  /** Stops the waiting. */
  signal?: AbortSignal | undefined
  /** Milliseconds to wait at most. */
  longest?: number | undefined
}

/** Waits until no other process has locked the folder, which is created if it does not exist. Returns a function that unlocks it. */
export async function lockFolderWhenFree(
  folder: string,
  {what, tell, signal, longest = LONGEST_WAIT}: LockWait,
): Promise<() => Promise<void>> {
  await ensureFolder(folder)
  const end = performance.now() + longest
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await lockFolder(folder)
    } catch (error) {
      if (!hasCode(error, 'STORE_LOCKED')) throw error
      const pid = error.facts.pid as number | undefined
      const holder = pid === undefined ? 'another process' : `process ${pid}`
      if (performance.now() > end) throw stillBusy(what, holder, error)
      if (isFirst) tell?.(`waiting for ${holder}, which changes ${what}`)
    }
    await sleep(PAUSE, signal)
  }
}

function stillBusy(what: string, holder: string, cause: unknown): TrustError {
  return new TrustError('CONFLICT', `${holder} is changing ${what}`, {
    cause,
    hints: ['run the command again once that has ended'],
  })
}

/** The process that holds the lock of a folder; undefined if none does. `pid` is absent if it is not known. Does not lock. */
export async function lockHolder(folder: string): Promise<{pid?: number} | undefined> {
  if (!existsSync(folder)) return undefined
  const sockets = new SocketFolder(folder)
  try {
    const newest = Math.max(0, ...lockNumbers(folder))
    const holder = newest > 0 ? await sockets.ask(`lock.${newest}`) : undefined
    return holder && (holder.pid === undefined ? {} : {pid: Number(holder.pid)})
  } finally {
    sockets.close()
  }
}

async function acquire(folder: string, sockets: SocketFolder, own: string): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const newest = Math.max(0, ...lockNumbers(folder))
    if (newest > 0) await requireDead(folder, sockets, newest)
    try {
      linkSync(join(folder, own), join(folder, `lock.${newest + 1}`))
    } catch (error) {
      if (systemCode(error) === 'EEXIST') continue
      throw error
    }
    // The list may be outdated: only the highest number counts.
    if (Math.max(...lockNumbers(folder)) === newest + 1) return newest + 1
    rmSync(join(folder, `lock.${newest + 1}`), {force: true})
  }
  throw lockedError(folder)
}

function lockNumbers(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const number = NAME.exec(name)?.[1]
    return number ? [Number(number)] : []
  })
}

async function requireDead(folder: string, sockets: SocketFolder, number: number): Promise<void> {
  const holder = await sockets.ask(`lock.${number}`)
  if (holder) throw lockedError(folder, holder.pid)
}

function lockedError(folder: string, pid?: string): TrustError {
  return new TrustError('STORE_LOCKED', `another process uses the store in ${folder}`, {
    hints: [
      pid
        ? `process ${pid} uses it: stop it first, or work through its API`
        : 'stop the other process first, or work through its API',
    ],
    facts: pid ? {pid: Number(pid)} : {},
  })
}

class SocketFolder {
  readonly #addresses: SocketAddresses

  constructor(folder: string) {
    this.#addresses = new SocketAddresses(folder)
  }

  /** Tells every caller which process this is. */
  async listen(name: string): Promise<Server> {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.end(String(process.pid))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({path: this.#addresses.of(name)}, resolve)
    })
    return server.unref()
  }

  /** The process that listens there, if any. One that accepts connections but does not respond in time is alive too. */
  ask(name: string): Promise<{pid?: string} | undefined> {
    return new Promise((resolve) => {
      const socket = createConnection({path: this.#addresses.of(name)})
      let answer = ''
      const finish = (holder: {pid?: string} | undefined) => {
        socket.destroy()
        resolve(holder)
      }
      socket.setTimeout(ANSWER_MILLISECONDS, () => finish({}))
      socket.on('data', (data) => (answer += data.toString()))
      socket.on('end', () => finish(answer ? {pid: answer} : {}))
      socket.on('error', (error) => {
        const dead = ['ECONNREFUSED', 'ENOENT'].includes(systemCode(error) ?? '')
        finish(dead ? undefined : {})
      })
    })
  }

  close(): void {
    this.#addresses.close()
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}
