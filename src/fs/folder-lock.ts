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
/** In characters. Who holds a lock can say more than its process id. */
const LONGEST_ANSWER = 256 * 1024
/** Longer than a first `init` takes on a slow machine. */
export const LONGEST_WAIT = 120_000
const PAUSE = 100

/**
 * Lets only one process use a folder. The lock is a listening socket in it: the kernel closes it with its process, however that
 * ends, and it works across containers that share the folder, where process ids mean nothing.
 *
 * The locks are numbered, and the highest one counts. A process that finds it without a listener takes the next number with a
 * hard link, which only one process can create: a dead lock is never replaced in place, so two processes cannot both take it.
 *
 * Who may enter the folder may ask the holder: it says its process id and, from `answer`, whatever else others should know.
 */
export async function lockFolder(
  folder: string,
  answer: () => string | undefined = () => undefined,
): Promise<() => Promise<void>> {
  const sockets = new SocketFolder(folder)
  const own = `lock-${randomUUID().slice(0, 8)}`
  let server: Server | undefined
  try {
    server = await sockets.listen(own, answer)
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
  /** What the holder tells who asks. */
  answer?: (() => string | undefined) | undefined
}

/** Waits until no other process has locked the folder, which is created if it does not exist. Returns a function that unlocks it. */
export async function lockFolderWhenFree(
  folder: string,
  {what, tell, signal, longest = LONGEST_WAIT, answer}: LockWait,
): Promise<() => Promise<void>> {
  await ensureFolder(folder)
  const end = performance.now() + longest
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await lockFolder(folder, answer)
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

/** Who holds a lock, as far as it says so. */
export interface LockHolder {
  pid?: number
  /** Absent if it has nothing to say, or did not in time. */
  answer?: string
}

/** The process that holds the lock of a folder; undefined if none does. Does not lock. */
export async function lockHolder(
  folder: string,
  patience = ANSWER_MILLISECONDS,
): Promise<LockHolder | undefined> {
  if (!existsSync(folder)) return undefined
  const sockets = new SocketFolder(folder)
  try {
    const newest = Math.max(0, ...lockNumbers(folder))
    return newest > 0 ? await sockets.ask(`lock.${newest}`, patience) : undefined
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

function lockedError(folder: string, pid?: number): TrustError {
  return new TrustError('STORE_LOCKED', `another process uses the store in ${folder}`, {
    hints: [
      pid
        ? `process ${pid} uses it: stop it first, or work through its API`
        : 'stop the other process first, or work through its API',
    ],
    facts: pid ? {pid} : {},
  })
}

class SocketFolder {
  readonly #addresses: SocketAddresses

  constructor(folder: string) {
    this.#addresses = new SocketAddresses(folder)
  }

  /** Tells every caller which process this is. */
  async listen(name: string, answer: () => string | undefined): Promise<Server> {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      let said: string | undefined
      try {
        said = answer()
      } catch {
        // The lock counts, whatever its holder has to say.
      }
      socket.end(said === undefined ? String(process.pid) : `${process.pid}\n${said}`)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({path: this.#addresses.of(name)}, resolve)
    })
    return server.unref()
  }

  /** The process that listens there, if any. One that accepts connections but does not respond in time is alive too. */
  ask(name: string, patience = ANSWER_MILLISECONDS): Promise<LockHolder | undefined> {
    return new Promise((resolve) => {
      const socket = createConnection({path: this.#addresses.of(name)})
      const chunks: Buffer[] = []
      let size = 0
      const finish = (holder: LockHolder | undefined) => {
        clearTimeout(timer)
        socket.destroy()
        resolve(holder)
      }
      const timer = setTimeout(() => finish({}), patience)
      socket.on('data', (data) => {
        chunks.push(data)
        size += data.length
        if (size > LONGEST_ANSWER) finish({})
      })
      socket.on('end', () => finish(readHolder(Buffer.concat(chunks).toString())))
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

/** The process id is on the first line, the rest is its answer. */
function readHolder(text: string): LockHolder {
  const [, pid, answer] = /^(\d{1,10})(?:\n([^]+))?$/.exec(text) ?? []
  return {...(pid !== undefined && {pid: Number(pid)}), ...(answer !== undefined && {answer})}
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}
