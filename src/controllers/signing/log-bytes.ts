import type {FileHandle} from 'node:fs/promises'

export const NEWLINE = 0x0a
const FIRST_WINDOW = 64 * 1024
/** Far more than the longest line. */
const LARGEST_WINDOW = 16 * 1024 * 1024

/** The bytes of a file from one place to another; fewer if it ends before. */
export async function readFrom(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, end - start))
  let read = 0
  while (read < buffer.length) {
    const {bytesRead} = await handle.read(buffer, read, buffer.length - read, start + read)
    if (bytesRead === 0) break
    read += bytesRead
  }
  return buffer.subarray(0, read)
}

/** The first line of a file, without its end; undefined if there is no whole one. */
export async function firstLine(handle: FileHandle): Promise<string | undefined> {
  const {size} = await handle.stat()
  for (let window = FIRST_WINDOW; window <= LARGEST_WINDOW; window *= 4) {
    const bytes = await readFrom(handle, 0, Math.min(window, size))
    const end = bytes.indexOf(NEWLINE)
    if (end !== -1) return bytes.toString('utf8', 0, end)
    if (window >= size) break
  }
  return undefined
}

/** The line that ends at this place of a file, without its end; undefined if none does. */
export async function lineEndingAt(handle: FileHandle, end: number): Promise<string | undefined> {
  for (let window = FIRST_WINDOW; window <= LARGEST_WINDOW; window *= 4) {
    const start = Math.max(0, end - window)
    const bytes = await readFrom(handle, start, end)
    if (bytes.length !== end - start || bytes.at(-1) !== NEWLINE) return undefined
    const before = bytes.length === 1 ? -1 : bytes.lastIndexOf(NEWLINE, -2)
    if (before !== -1 || start === 0) return bytes.toString('utf8', before + 1, bytes.length - 1)
  }
  return undefined
}
