import {clusterInfoInvalid} from '../bootstrap/cluster-info-errors.ts'
import {readFileSafely} from '../fs/files.ts'
import {LARGEST_DOCUMENT} from './document.ts'

/** A discovery file. It may be a link, as mounted ConfigMaps are. */
export async function readDiscoveryFile(path: string): Promise<string> {
  return (await readFileSafely(path, {followLinks: true, maxBytes: LARGEST_DOCUMENT})).toString()
}

/** A discovery file from standard input, up to its end. */
export async function readDiscoveryInput(
  input: AsyncIterable<Uint8Array | string>,
  name: string,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > LARGEST_DOCUMENT) throw clusterInfoInvalid(name, 'it is larger than 1 MiB')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}
