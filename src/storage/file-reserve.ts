import {statSync} from 'node:fs'
import {open} from 'node:fs/promises'
import type {FileHandle} from 'node:fs/promises'

const SMALLEST_STEP = 1_024 * 1_024
const LARGEST_STEP = 32 * 1_024 * 1_024
const CHUNK = 64 * 1_024

/**
 * Disk space behind the used part of a file, written in advance. Later writes there cannot run out of space, and a sync has
 * no new length to record. The step grows with the file.
 */
export class FileReserve {
  readonly #file: string
  /** Up to here the file's blocks are allocated. */
  #end: number

  constructor(file: string) {
    this.#file = file
    const {size, blocks} = statSync(file)
    // A copy may have skipped empty blocks.
    this.#end = blocks * 512 >= size ? size : 0
  }

  /** Ensures space for this many bytes after those used; throws if the disk is full. */
  async ensure(used: number, wanted: number): Promise<void> {
    const end = used + wanted
    if (end <= this.#end) return
    const step = Math.min(LARGEST_STEP, Math.max(SMALLEST_STEP, Math.floor(used / 8)))
    try {
      await this.#extend(used, end + step)
    } catch {
      await this.#extend(used, end)
    }
  }

  async #extend(used: number, end: number): Promise<void> {
    const start = Math.max(used, this.#end)
    const handle = await open(this.#file, 'r+')
    try {
      await writeZeros(handle, start, end)
      await handle.datasync()
      this.#end = end
    } catch (error) {
      await handle.truncate(start)
      throw error
    } finally {
      await handle.close()
    }
  }
}

/**
 * Small writes side by side: one after the other, each would wait for a turn of a busy event loop, and all writers with it.
 * Written in one, the kernel would keep the space in large pages, of which one read makes all resident.
 */
async function writeZeros(handle: FileHandle, start: number, end: number): Promise<void> {
  const zeros = Buffer.alloc(Math.min(CHUNK, end - start))
  const writes: Promise<void>[] = []
  for (let at = start; at < end; at += zeros.length)
    writes.push(writeAt(handle, zeros.subarray(0, end - at), at))
  // All have ended before the file may be cut off again.
  await Promise.allSettled(writes)
  await Promise.all(writes)
}

async function writeAt(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const {bytesWritten} = await handle.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}
