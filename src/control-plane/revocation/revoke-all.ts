import type {ApiClient} from '../../client/api-client.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {isCurrent, type KnownCertificate} from './known-certificates.ts'
import {idOf, revokeCertificates, type RevokedCertificates, type RevokeOptions} from './revoke.ts'

/** A node can request 60 certificates an hour. */
const MOST_ROUNDS = 64

/**
 * Revokes certificates whose holders may renew them meanwhile: looks again after each write until nothing new is found. What is on the list
 * cannot request anything any more, so every certificate was either requested before the last write, or never.
 */
export async function revokeAll(
  client: Pick<ApiClient, 'configMaps' | 'selfSubjectReviews'>,
  {first, findAgain}: {first: KnownCertificate[]; findAgain: () => Promise<KnownCertificate[]>},
  options: RevokeOptions,
  clock: Clock,
): Promise<RevokedCertificates & {certificates: KnownCertificate[]}> {
  const all = {
    revoked: [] as RevokedCertificates['revoked'],
    unchanged: [] as RevokedCertificates['unchanged'],
    certificates: [] as KnownCertificate[],
  }
  const seen = new Set<string>()
  let found = first
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const {revoked, unchanged} = await revokeCertificates(client, found, options, clock)
    all.revoked.push(...revoked)
    all.unchanged.push(...unchanged)
    all.certificates.push(...found)
    if (options.dryRun === true) return all
    for (const one of found) seen.add(idOf(one, options.keepKeys))
    found = (await findAgain()).filter(
      (one) => isCurrent(one, clock.now()) && !seen.has(idOf(one, options.keepKeys)),
    )
    if (found.length === 0) return all
  }
  throw new TrustError('CONFLICT', 'new certificates are issued while others are revoked', {
    hints: ['run it again'],
  })
}
