import {TrustError} from '../../errors.ts'
import {readNamedAuthority} from '../../pki/authority.ts'
import {readFileSafely} from '../../fs/files.ts'

const FORM = /^([a-z-]+)=([^,]+),([^,]+)$/

/** The CAs that an operator brings along with --new-ca, by id. Each must be a CA with its own key. */
export async function readBrought(
  values: readonly string[],
): Promise<ReadonlyMap<string, {certificatePem: string; keyPem: string}>> {
  const brought = new Map<string, {certificatePem: string; keyPem: string}>()
  for (const value of values) {
    const [, id, certificate, key] = FORM.exec(value) ?? []
    if (id === undefined || certificate === undefined || key === undefined) {
      throw new TrustError(
        'USAGE',
        '--new-ca is not of the form <CA>=<certificate file>,<key file>',
      )
    }
    const {bundlePem} = await readNamedAuthority({certificate, key})
    const keyPem = (await readFileSafely(key, {followLinks: true})).toString()
    brought.set(id, {certificatePem: bundlePem, keyPem})
  }
  return brought
}
