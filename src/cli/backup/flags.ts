import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {TrustError} from '../../errors.ts'

export const backupFile = (description: string) => Args.string({required: true, description})

export const passphraseFile = (summary: string) =>
  Flags.string({
    helpValue: '<file>',
    summary: `${summary}; the file must be readable by its owner only`,
  })

export const ENCRYPT = 'encrypt with the passphrase in this file'
export const DECRYPT = 'the passphrase of an encrypted backup is in this file'

export const bumpRevision = Flags.integer({
  helpValue: '<number>',
  min: 1,
  max: 1_000_000_000_000,
  default: 1_000_000_000,
  summary:
    'how far the next revision is above that of the backup, so that no client sees one twice',
})

export const forceRestore = Flags.boolean({
  summary: 'replace what is there; it is moved to the folder "backups" of --dir',
})

const SHORTEST = 8

/** Without its line end. The passphrase is never shown. */
export async function readPassphrase(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  const {readFileSafely} = await import('../../fs/files.ts')
  const content = await readFileSafely(path, {secret: true, maxBytes: 64 * 1024})
  const text = content.toString('latin1').replace(/\r?\n$/, '')
  if (text.length >= SHORTEST) return Buffer.from(text, 'latin1')
  throw new TrustError('USAGE', `the passphrase in ${path} has fewer than ${SHORTEST} characters`, {
    hints: ['create one with "openssl rand -base64 32"'],
  })
}
