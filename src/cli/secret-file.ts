import {TrustError} from '../errors.ts'
import {readFileSafely} from '../fs/files.ts'

const LARGEST = 64 * 1024

async function readStandardInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > LARGEST) break
  }
  return text
}

/** Reads a secret from a file, because every user of the machine can read the command line. `-`: the standard input. */
export async function readSecretFile(path: string): Promise<string> {
  const text =
    path === '-'
      ? await readStandardInput()
      : (await readFileSafely(path, {followLinks: true, maxBytes: LARGEST})).toString()
  const secret = text.trim()
  // The content is not shown: it may be most of a secret.
  if (/^[\x21-\x7e]+$/.test(secret)) return secret
  throw new TrustError('USAGE', 'the file does not hold a token', {
    hints: ['the file must contain only the token'],
  })
}
