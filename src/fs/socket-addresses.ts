import {closeSync, existsSync, openSync} from 'node:fs'
import {join} from 'node:path'

/** Sockets in a folder. A socket's address is limited to about 100 bytes, so the folder is named by its descriptor if possible. */
export class SocketAddresses {
  readonly #base: string
  readonly #descriptor: number

  constructor(folder: string) {
    this.#descriptor = openSync(folder, 'r')
    const short = `/proc/self/fd/${this.#descriptor}`
    this.#base = existsSync(short) ? short : folder
  }

  of(name: string): string {
    return join(this.#base, name)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
