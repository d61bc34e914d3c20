import * as Flags from '@oclif/core/flags'
import {TrustError} from '../errors.ts'

export const passphraseFile = (summary: string) =>
  Flags.string({
    helpValue: '<file>',
    summary: `${summary}; the file must be readable by its owner only`,
  })

const SHORTEST = 8

/** Without its line end. The passphrase is never shown. */
export async function readPassphrase(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  const {readFileSafely} = await import('../fs/files.ts')
  const content = await readFileSafely(path, {secret: true, maxBytes: 64 * 1024})
  const text = content.toString('latin1').replace(/\r?\n$/, '')
  if (text.length >= SHORTEST) return Buffer.from(text, 'latin1')
  throw new TrustError('USAGE', `the passphrase in ${path} has fewer than ${SHORTEST} characters`, {
    hints: ['create one with "openssl rand -base64 32"'],
  })
}
