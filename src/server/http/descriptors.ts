import {readdirSync, readFileSync} from 'node:fs'
import {systemCode} from '../../errors.ts'

/** What connections leave to files, commands and the store, or a quarter of a small limit. */
const RESERVE = 64

interface DescriptorUse {
  limit: number
  used: number
}

/** Only Linux tells. Throws if not even one is left to look. */
function readUse(): DescriptorUse | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const [, limit] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
    // One is the folder itself.
    const used = readdirSync('/proc/self/fd').length - 1
    return limit === undefined ? undefined : {limit: Number(limit), used}
  } catch (error) {
    if (['EMFILE', 'ENFILE'].includes(systemCode(error) ?? '')) throw error
    return undefined
  }
}

/** How many files and connections the process may still open. Without one, nothing works: not even reading how much memory it uses. */
export class Descriptors {
  readonly #read: () => DescriptorUse | undefined
  #use: DescriptorUse | undefined

  constructor(read = readUse) {
    this.#read = read
    this.look()
  }

  look(): void {
    try {
      this.#use = this.#read()
    } catch {
      const limit = this.#use?.limit ?? 0
      this.#use = {limit, used: limit}
    }
  }

  /** How many more connections there may be; below zero, so many have to go. */
  get spare(): number {
    if (this.#use === undefined) return Infinity
    const {limit, used} = this.#use
    return limit - used - this.#reserve(limit)
  }

  /** For readiness: throws if connections were refused for want of descriptors at the last look. Anybody may ask for it, so it does not look itself. */
  check(): void {
    if (this.#use === undefined || this.spare > 0) return
    const {limit, used} = this.#use
    throw new Error(
      `${used} of ${limit} descriptors are open, so connections are closed or refused; raise the limit ("ulimit -n", LimitNOFILE= of the unit)`,
    )
  }

  #reserve(limit: number): number {
    return Math.min(RESERVE, Math.floor(limit / 4))
  }
}
