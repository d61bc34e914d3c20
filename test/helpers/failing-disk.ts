import {AsyncLocalStorage} from 'node:async_hooks'
import {createHash} from 'node:crypto'
import fs from 'node:fs'
import {syncBuiltinESMExports} from 'node:module'
import {basename, join, relative} from 'node:path'
import {UndiciTransport} from '../../src/client/undici-transport.ts'

type Call = (this: unknown, ...args: unknown[]) => unknown
type Calls = Record<string, Call>

/** How a program ends: killed, after which it does nothing more, or by a disk that takes no more, on which it can still remove files. */
export type End = 'kill' | 'full-disk'

/** What a program has done in one run. */
interface Run {
  end: End
  isOver: boolean
  /** How often each place was met in this run. */
  met: Map<string, number>
}

const ASYNC = ['open', 'mkdir', 'chmod', 'rename', 'rm', 'rmdir', 'symlink']
const SYNC = ['renameSync', 'linkSync', 'rmSync', 'rmdirSync']
/** Where a run may be ended. What only prepares a temporary file leaves the same on the disk as the change before it. */
const PLACES: Record<End, readonly string[]> = {
  kill: [
    'mkdir',
    'rename',
    'rm',
    'rmdir',
    'renameSync',
    'linkSync',
    'rmSync',
    'rmdirSync',
    'request',
  ],
  'full-disk': ['mkdir', 'write', 'rename', 'linkSync'],
}
/** A full disk still lets these happen. */
const FREEING = ['rm', 'rmdir', 'rmSync', 'rmdirSync', 'chmod', 'request']
/** While something is polled, the number of requests depends on time. */
const MOST_REQUESTS = 1

const killed = () => new Error('killed')
const full = () => Object.assign(new Error('ENOSPC: no space left on device'), {code: 'ENOSPC'})

/**
 * Ends runs of a program at each place where it changes something: a change of a file, or a request to a server. Each run gets one place
 * further than all runs before. Only what runs in `run` is affected, so a server may work in the same process.
 */
export class FailingDisk {
  readonly #dir: string
  readonly #seen = new Set<string>()
  readonly #current = new AsyncLocalStorage<Run>()
  readonly #restore: (() => void)[] = []

  private constructor(dir: string, handles: Calls) {
    this.#dir = dir
    for (const name of ['writeFile', 'write']) this.#patch(handles, name, 'write')
    const promises = fs.promises as unknown as Calls
    for (const name of ASYNC) this.#patch(promises, name)
    for (const name of SYNC) this.#patch(fs as unknown as Calls, name)
    syncBuiltinESMExports()
    for (const name of ['request', 'stream']) {
      this.#patch(UndiciTransport.prototype as unknown as Calls, name, 'request')
    }
  }

  static async of(dir: string): Promise<FailingDisk> {
    const handle = await fs.promises.open(dir, 'r')
    await handle.close()
    return new FailingDisk(dir, Object.getPrototypeOf(handle) as Calls)
  }

  remove(): void {
    for (const undo of this.#restore) undo()
    syncBuiltinESMExports()
  }

  /** Runs the program until it meets a new place. Returns whether it met one. */
  async run(end: End, program: () => Promise<unknown>): Promise<boolean> {
    const run: Run = {end, isOver: false, met: new Map()}
    try {
      await this.#current.run(run, program)
    } catch (error) {
      // What fails before it was ended has been left in a state that cannot be completed.
      if (!run.isOver) throw error
    }
    return run.isOver
  }

  #patch(owner: Calls, name: string, kind = name): void {
    const original = owner[name]
    if (!original) throw new Error(`there is no ${name}`)
    const meet = (args: unknown[]) => this.#meet(kind, args)
    owner[name] = function (...args) {
      meet(args)
      return original.apply(this, args)
    }
    this.#restore.push(() => (owner[name] = original))
  }

  #meet(kind: string, args: unknown[]): void {
    const run = this.#current.getStore()
    if (!run) return
    const isReading = kind === 'open' && (args[1] === 'r' || (Number(args[1]) & 3) === 0)
    const path = kind === 'request' || kind === 'write' ? '' : String(args[0])
    if (isReading || relative(this.#dir, path).startsWith('lock')) return
    if (run.end === 'full-disk' && FREEING.includes(kind)) return
    if (!run.isOver) {
      const mayEnd = PLACES[run.end].includes(kind)
      if (!mayEnd || !this.#isNew(run, `${kind} ${basename(path)}`)) return
      run.isOver = true
    }
    throw run.end === 'kill' ? killed() : full()
  }

  #isNew(run: Run, act: string): boolean {
    const place = `${run.end} ${act.replaceAll(/[0-9a-f]{8,}/g, '#')} ${this.state()}`
    const times = (run.met.get(place) ?? 0) + 1
    run.met.set(place, times)
    if (act.startsWith('request') && times > MOST_REQUESTS) return false
    const key = `${place} ${times}`
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }

  /** Identifies what is on the disk. Without what each run writes anew until it is committed: temporary files, and notes about them. */
  state(): string {
    const hash = createHash('sha256')
    const files = fs.readdirSync(this.#dir, {recursive: true, encoding: 'utf8'}).sort()
    for (const name of files) {
      const isOurs = /^(pki|ca-rotation\.json|[a-z-]+\.conf)/.test(name)
      const path = join(this.#dir, name)
      if (!isOurs || /(^|\/)\./.test(name) || !fs.statSync(path).isFile()) continue
      hash.update(`${name}\n`).update(fs.readFileSync(path))
    }
    return hash.digest('hex').slice(0, 16)
  }
}
