import {TrustError} from '../../errors.ts'
import {parseBundle} from '../../pki/bundle.ts'
import {parseCertificate, publicKeyOf, type Certificate} from '../../pki/certificate.ts'
import {createIssuer, issueLeaf} from '../../pki/issuer.ts'
import {generateKeys, parsePrivateKey} from '../../pki/keys.ts'
import {validityFor} from '../../pki/lifetimes.ts'
import {isSignedBySync} from '../../pki/signatures.ts'
import {NO_NAMES} from '../../pki/subject-names.ts'
import {verifyChain} from '../../pki/verify.ts'
import {formatTimestamp} from '../../runtime.ts'
import {KUBELET_SERVING_CA, CLUSTER_CA} from '../certificates.ts'
import type {Plane} from '../config/plane.ts'
import type {Journal} from './journal.ts'
import {ETCD_CA, type Unit} from './units.ts'

/** A CA that an operator brings along, instead of a new one. What signs comes first in its file. */
export interface BroughtAuthority {
  certificatePem: string
  keyPem: string
}

/** By the id of the CA that it replaces. */
export type BroughtAuthorities = ReadonlyMap<string, BroughtAuthority>

/** What is recorded of CAs that are brought along. */
export const describeBrought = (brought: BroughtAuthorities): NonNullable<Journal['brought']> =>
  [...brought].map(([id, {certificatePem}]) => ({
    id,
    fingerprint: parseCertificate(certificatePem).fingerprint,
  }))

const DAY = 86_400_000
/** A rotation waits for people and machines: a CA that ends sooner may end before the rotation does. */
const LEAST_DAYS = 30
const MINUTE = 60_000

const refused = (id: string, problem: string, hint: string): TrustError =>
  new TrustError('USAGE', `--new-ca ${id}: ${problem}`, {hints: [hint]})

const LONGER = `bring a CA along that is valid for more than ${LEAST_DAYS} days`

function requireValid(id: string, {notBefore, notAfter}: Certificate, now: Date): void {
  if (notAfter <= now) {
    const message = `--new-ca ${id}: this CA expired on ${formatTimestamp(notAfter)}`
    throw new TrustError('SIGNER_EXPIRED', message, {
      hints: ['check the clock of this machine', LONGER],
    })
  }
  if (notBefore > now) {
    const message = `--new-ca ${id}: this CA is not valid before ${formatTimestamp(notBefore)}`
    throw new TrustError('SIGNER_NOT_YET_VALID', message, {
      hints: ['check the clock of this machine: it may be slow', 'or start the rotation later'],
    })
  }
}

const isSelfSigned = (one: Certificate): boolean =>
  one.subject.der.equals(one.issuer.der) && isSignedBySync(one.signed, publicKeyOf(one))

const SERVERS: readonly string[] = [CLUSTER_CA, KUBELET_SERVING_CA]

const usagesOf = ({id, added}: Unit) =>
  id === ETCD_CA
    ? (['server auth', 'client auth'] as const)
    : SERVERS.includes(id) || added?.signs === 'servers'
      ? (['server auth'] as const)
      : (['client auth'] as const)

/** The CA and those above it, if everybody who trusts its file accepts what it signs. It signs a certificate to find out. */
async function chainOf(
  unit: Unit,
  {certificatePem, keyPem}: BroughtAuthority,
  now: Date,
): Promise<Certificate[]> {
  const {id} = unit
  const bundle = parseBundle(certificatePem)
  const certificate = parseCertificate(certificatePem)
  const roots = bundle.filter(isSelfSigned)
  if (roots.length === 0) {
    throw refused(
      id,
      'this is an intermediate CA, and its root is not in the file',
      'add the certificates of the CAs above it to the file, the root last: clients that trust an intermediate CA alone refuse what it signs',
    )
  }
  const {publicKey} = await generateKeys()
  const issuer = createIssuer(certificate, parsePrivateKey(keyPem))
  const template = {subject: {commonName: 'trial'}, names: NO_NAMES, publicKey}
  const validity = validityFor(now, MINUTE, certificate.notAfter)
  let chain: Certificate[] = []
  for (const usage of usagesOf(unit)) {
    const usages = ['digital signature', usage] as const
    const trial = parseCertificate(await issueLeaf(issuer, {...template, usages, validity}))
    const verdict = verifyChain(trial, {roots, intermediates: bundle, usage, now})
    if (!verdict.ok) {
      throw refused(
        id,
        `a certificate for "${usage}" that this CA signs would be refused: ${verdict.reason}`,
        'bring a CA along whose file has all certificates up to its root, and which may sign such certificates',
      )
    }
    chain = verdict.chain.slice(1)
  }
  return chain
}

/** Refuses a CA with which a rotation could not be finished, before anything is written. */
export async function requireSound(
  unit: Unit,
  brought: BroughtAuthority,
  now: Date,
): Promise<void> {
  const {id} = unit
  const certificate = parseCertificate(brought.certificatePem)
  requireValid(id, certificate, now)
  const [, ...above] = await chainOf(unit, brought, now)
  const early = above.find(({notAfter}) => notAfter < certificate.notAfter)
  if (early) {
    const end = formatTimestamp(early.notAfter)
    throw refused(id, `a CA above this one ends before it, on ${end}`, LONGER)
  }
  if (certificate.notAfter.getTime() - now.getTime() > LEAST_DAYS * DAY) return
  const end = formatTimestamp(certificate.notAfter)
  throw refused(id, `this CA ends on ${end}, within ${LEAST_DAYS} days`, LONGER)
}

/** A sentence for each CA that ends before certificates would that it signs from now on: they end with it. */
export function shortenedBy(
  {settings}: Pick<Plane, 'settings'>,
  brought: BroughtAuthorities,
  now: Date,
): string[] {
  const lifetime = settings.certificateValidityPeriod
  const days = Math.round(lifetime / DAY)
  return [...brought].flatMap(([id, {certificatePem}]) => {
    const {notAfter} = parseCertificate(certificatePem)
    const left = notAfter.getTime() - now.getTime()
    if (left >= lifetime || left <= LEAST_DAYS * DAY) return []
    return [
      `the new CA "${id}" ends on ${formatTimestamp(notAfter)}, and so does every certificate that it signs: sooner than after the usual ${days} days`,
    ]
  })
}
