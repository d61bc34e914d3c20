import {closeSync, openSync} from 'node:fs'
import {join} from 'node:path'
import {descriptorPath} from './folders.ts'

/** Sockets in a folder. A socket's address is limited to about 100 bytes, so the folder is named by its descriptor if possible. */
export class SocketAddresses {
  readonly #base: string
  readonly #descriptor: number

  constructor(folder: string) {
    this.#descriptor = openSync(folder, 'r')
    this.#base = descriptorPath(this.#descriptor, folder)
  }

  of(name: string): string {
    return join(this.#base, name)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
