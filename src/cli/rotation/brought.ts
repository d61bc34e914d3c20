import type {BroughtAuthorities, BroughtAuthority} from '../../control-plane/ca-rotation/brought.ts'
import {KEY_IN_FILE} from '../../control-plane/ca-rotation/new-journal.ts'
import {TrustError} from '../../errors.ts'
import {readNamedAuthority, readNamedCertificate} from '../../pki/authority.ts'
import {readFileSafely} from '../../fs/files.ts'

const FORM = /^([a-z0-9-]+)=([^,]+),([^,]+)$/

/** How others name a key that is not in a file. A path with a colon in front of its first slash can be written as "./…". */
const ELSEWHERE = /^[a-z][a-z0-9+.-]+:/i

async function readBoth(certificate: string, key: string): Promise<BroughtAuthority> {
  if (ELSEWHERE.test(key)) {
    throw new TrustError('USAGE', 'the key of a CA has to be in a file on this machine', {
      hints: ['signing by a service, or with a key in a PKCS#11 token, is not supported yet'],
    })
  }
  const {bundlePem} = await readNamedAuthority({certificate, key})
  const keyPem = (await readFileSafely(key, {followLinks: true})).toString()
  return {certificatePem: bundlePem, keyPem}
}

/** A CA in files that an operator names; without its key if that is on another machine. */
export const readBroughtFiles = async (
  certificate: string,
  key: string | undefined,
): Promise<Partial<BroughtAuthority> & Pick<BroughtAuthority, 'certificatePem'>> =>
  key === undefined
    ? {certificatePem: (await readNamedCertificate(certificate)).bundlePem}
    : await readBoth(certificate, key)

/** The CAs that an operator brings along with --new-ca, by id. Each must be a CA with its own key. */
export async function readBrought(values: readonly string[]): Promise<BroughtAuthorities> {
  const brought = new Map<string, BroughtAuthority>()
  for (const value of values) {
    const [, id, certificate, key] = FORM.exec(value) ?? []
    if (id === undefined || certificate === undefined || key === undefined) {
      throw new TrustError(
        'USAGE',
        '--new-ca is not of the form <CA>=<certificate file>,<key file>',
        {hints: ['for example --new-ca front-proxy-ca=next.crt,next.key', KEY_IN_FILE]},
      )
    }
    brought.set(id, await readBoth(certificate, key))
  }
  return brought
}
