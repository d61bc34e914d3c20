import {TrustError} from '../errors.ts'
import {readFileSafely} from '../fs/files.ts'

/** What a command reads from a file, and how messages call it. */
export interface InputText {
  text: string
  source: string
}

const MIB = 1024 * 1024

async function readStandardInput(mebibytes: number): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > mebibytes * MIB) {
      throw new TrustError('USAGE', `the standard input is larger than ${mebibytes} MiB`)
    }
  }
  return text
}

/** Reads a file that a person names, up to a size; `-` is the standard input. */
export async function readInput(path: string, mebibytes: number): Promise<InputText> {
  if (path === '-') {
    return {text: await readStandardInput(mebibytes), source: 'the standard input'}
  }
  const content = await readFileSafely(path, {followLinks: true, maxBytes: mebibytes * MIB})
  return {text: content.toString(), source: path}
}
