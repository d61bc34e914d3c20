import {createHash} from 'node:crypto'
import {parseBundle} from '../pki/bundle.ts'
import type {Trust} from './trust.ts'

/**
 * Identifies the CAs of the catalog, the serving certificate and the keys of tokens that a server uses. A rotation compares it with the
 * files. CAs that an operator names by flags are not part of it: each server has its own.
 */
export function trustDigest({
  authorities,
  serving,
  tokenKeys,
}: Pick<Trust, 'authorities' | 'serving' | 'tokenKeys'>): string {
  const fingerprints = (certificates: readonly {fingerprint: string}[]) =>
    certificates.map(({fingerprint}) => fingerprint)
  const content = {
    authorities: [...authorities].map(([id, {bundle, issuer}]) => [
      id,
      fingerprints(bundle),
      issuer !== undefined,
    ]),
    serving: fingerprints(parseBundle(serving.certificate)),
    tokenKeys: [tokenKeys.signing.id, ...tokenKeys.verification.map(({id}) => id)],
  }
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
