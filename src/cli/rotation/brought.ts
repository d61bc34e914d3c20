import {TrustError} from '../../errors.ts'
import {readNamedAuthority, readNamedCertificate} from '../../pki/authority.ts'
import {readFileSafely} from '../../fs/files.ts'

const FORM = /^([a-z0-9-]+)=([^,]+),([^,]+)$/

interface Brought {
  certificatePem: string
  keyPem: string
}

async function readBoth(certificate: string, key: string): Promise<Brought> {
  const {bundlePem} = await readNamedAuthority({certificate, key})
  const keyPem = (await readFileSafely(key, {followLinks: true})).toString()
  return {certificatePem: bundlePem, keyPem}
}

/** A CA in files that an operator names; without its key if that is on another machine. */
export const readBroughtFiles = async (
  certificate: string,
  key: string | undefined,
): Promise<Partial<Brought> & Pick<Brought, 'certificatePem'>> =>
  key === undefined
    ? {certificatePem: (await readNamedCertificate(certificate)).bundlePem}
    : await readBoth(certificate, key)

/** The CAs that an operator brings along with --new-ca, by id. Each must be a CA with its own key. */
export async function readBrought(
  values: readonly string[],
): Promise<ReadonlyMap<string, Brought>> {
  const brought = new Map<string, Brought>()
  for (const value of values) {
    const [, id, certificate, key] = FORM.exec(value) ?? []
    if (id === undefined || certificate === undefined || key === undefined) {
      throw new TrustError(
        'USAGE',
        '--new-ca is not of the form <CA>=<certificate file>,<key file>',
        {hints: ['for example --new-ca front-proxy-ca=next.crt,next.key']},
      )
    }
    brought.set(id, await readBoth(certificate, key))
  }
  return brought
}
