import {resolveAccess} from '../../client/kubeconfig-access.ts'
import {readKubeconfig} from '../../client/kubeconfig-files.ts'
import {printable} from '../../client/printable.ts'
import {
  certificatesNamed,
  certificatesOfKey,
  certificatesOfNode,
  describeCertificate,
  isCurrent,
  lastEnds,
  type CertificateSources,
  type KnownCertificate,
} from '../../control-plane/revocation/known-certificates.ts'
import {plainName} from '../../control-plane/requests/names.ts'
import {requireRevocations} from '../../control-plane/revocation/list-store.ts'
import {isSame, requireUnprotected} from '../../control-plane/revocation/protected.ts'
import {revokeAll} from '../../control-plane/revocation/revoke-all.ts'
import type {RevokedCertificates} from '../../control-plane/revocation/revoke.ts'
import {nodeOfUser, nodeUser} from '../../csr/node-names.ts'
import {TrustError} from '../../errors.ts'
import {readFileSafely} from '../../fs/files.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {REQUEST_PIN, parsePin} from '../../pki/pins.ts'
import type {Clock} from '../../runtime.ts'
import type {ClusterFlagValues} from '../cluster.ts'
import {columnsOf, paragraph} from '../layout.ts'
import {findLocalPlane} from '../local-plane.ts'
import {createProgress, type Progress} from '../progress.ts'
import {confirm} from '../prompt.ts'
import {clusterCommand} from '../same-cluster.ts'
import {shownValue} from '../views/requests-text.ts'
import {withCluster} from '../with-cluster.ts'

export interface RevokeFlags extends ClusterFlagValues {
  names: readonly string[]
  node?: string | undefined
  pin?: string | undefined
  file?: string | undefined
  reason?: string | undefined
  'keep-key': boolean
  force: boolean
  yes: boolean
  'dry-run': boolean
  quiet: boolean
  verbose: boolean
}

const LARGEST = 1024 * 1024

/** A certificate as PEM, or a kubeconfig with one. */
async function certificateInFile(path: string): Promise<KnownCertificate> {
  const content = await readFileSafely(path, {followLinks: true, maxBytes: LARGEST})
  const text = content.toString()
  if (text.includes('-----BEGIN CERTIFICATE-----'))
    return describeCertificate(parseCertificate(text))
  const {clientCertificate} = await resolveAccess(await readKubeconfig(path))
  if (clientCertificate) return describeCertificate(parseCertificate(clientCertificate.certificate))
  throw new TrustError('CERTIFICATE_INVALID', `${path} holds no client certificate`, {
    hints: ['use a certificate as PEM, or a kubeconfig that has one'],
  })
}

interface Found {
  certificates: KnownCertificate[]
  /** Of the same users, but not named. */
  others: KnownCertificate[]
}

async function findNamed(name: string, sources: CertificateSources, now: Date): Promise<Found> {
  const {named, others} = await certificatesNamed(name, sources)
  if (named.length > 0) return {certificates: requireCurrent(`"${name}"`, named, now), others}
  const where = sources.log === undefined ? 'the certificate requests' : 'the issuance log'
  throw new TrustError('NOT_FOUND', `no certificate found for "${printable(name)}" in ${where}`, {
    hints: [
      'name a request or a serial number; requests are deleted an hour after they were signed',
      ...(sources.log === undefined
        ? ['run it on the machine of the control plane, which has the issuance log']
        : []),
      'or use --node, --pin or --file',
    ],
    facts: {name},
  })
}

function requireCurrent(
  what: string,
  certificates: KnownCertificate[],
  now: Date,
): KnownCertificate[] {
  const current = certificates.filter((one) => isCurrent(one, now))
  if (current.length > 0) return current
  throw new TrustError('NOT_FOUND', `no valid certificate found for ${printable(what)}`, {
    hints: [
      'list the nodes with "trustadm node list", and what was issued with "trustadm certificate log"',
      'a certificate that has expired needs no revocation',
    ],
  })
}

/** The keys of requests that wait belong to it, unless only single certificates are wanted. */
const ofWholeNode = (node: string, flags: RevokeFlags, sources: CertificateSources, now: Date) =>
  certificatesOfNode(node, sources, {awaitedAt: flags['keep-key'] ? undefined : now})

async function findAll(flags: RevokeFlags, sources: CertificateSources, now: Date): Promise<Found> {
  const {names, node, pin, file} = flags
  if (names.length === 0 && node === undefined && pin === undefined && file === undefined) {
    throw new TrustError('USAGE', 'no certificates were named', {
      hints: ['name requests or serial numbers, or use --node, --pin or --file'],
    })
  }
  const found: Found = {certificates: [], others: []}
  for (const name of names.map(plainName)) {
    const {certificates, others} = await findNamed(name, sources, now)
    found.certificates.push(...certificates)
    found.others.push(...others.filter((one) => isCurrent(one, now)))
  }
  if (node !== undefined) {
    const ofNode = await ofWholeNode(node, flags, sources, now)
    found.certificates.push(...requireCurrent(`node "${node}"`, ofNode, now))
  }
  if (pin !== undefined) {
    const ofKey = await certificatesOfKey(parsePin(pin, REQUEST_PIN), sources)
    found.certificates.push(...requireCurrent(pin, ofKey, now))
  }
  if (file !== undefined) {
    found.certificates.push(...requireCurrent(file, [await certificateInFile(file)], now))
  }
  return found
}

const describe = ({user, serial, pin, notAfter}: KnownCertificate): string =>
  [
    user ? shownValue(user) : (pin ?? ''),
    ...(serial === undefined ? [] : [`serial ${serial}`]),
    ...(notAfter === undefined ? [] : [`valid until ${notAfter.toISOString().slice(0, 10)}`]),
  ].join(', ')

/** More than anybody reads before the question. */
const MOST_SHOWN = 50

async function isAgreed(certificates: readonly KnownCertificate[]): Promise<boolean> {
  const columns = columnsOf(process.stderr)
  for (const one of certificates.slice(0, MOST_SHOWN))
    process.stderr.write(paragraph('  ', describe(one), columns, 4))
  if (certificates.length > MOST_SHOWN)
    process.stderr.write(`  and ${certificates.length - MOST_SHOWN} more\n`)
  const what =
    certificates.length === 1 ? 'this certificate' : `these ${certificates.length} certificates`
  return await confirm(`Revoke ${what}?`)
}

const isAmong = (pem: string | undefined, certificates: readonly KnownCertificate[]): boolean => {
  const own = pem === undefined ? undefined : describeCertificate(parseCertificate(pem))
  return own !== undefined && certificates.some((one) => isSame(one, own))
}

/** A stolen certificate can have renewed itself with another key. */
function warnOfOthers({certificates, others}: Found, flags: RevokeFlags, {warn}: Progress): void {
  const revoked = new Set(certificates.flatMap(({pin}) => pin ?? []))
  const left = others.filter(({pin}) => pin === undefined || !revoked.has(pin))
  const users = [...new Set(left.map(({user = ''}) => user))]
  for (const user of users) {
    const count = left.filter((one) => one.user === user).length
    const node = nodeOfUser(user)
    const how =
      node === undefined
        ? ''
        : `; to revoke all of them, run "${clusterCommand(flags, `certificate revoke --node ${node}`)}"`
    warn(`${shownValue(user)} has ${count} more valid certificate${count === 1 ? '' : 's'}${how}`)
  }
}

/** Revokes what the flags of `certificate revoke` name; undefined if the person said no. */
export async function revokeNamed(
  flags: RevokeFlags,
  clock: Clock,
): Promise<RevokedCertificates | undefined> {
  const progress = createProgress(flags)
  const local = await findLocalPlane(flags)
  return await withCluster(flags, async ({client, access}) => {
    await requireRevocations(client)
    const sources = {client, log: local.log, warn: progress.warn}
    const found = await findAll(flags, sources, clock.now())
    const {certificates} = found
    const own = access.clientCertificate?.certificate
    if (!flags.force) requireUnprotected(certificates, {own, controlPlane: local.certificates})
    const {reason, node, 'keep-key': keepKeys, 'dry-run': dryRun} = flags
    if (!flags.yes && !dryRun && !(await isAgreed(certificates))) return undefined
    // Whoever has revoked its own certificate cannot look again.
    const isLast = node === undefined || isAmong(own, certificates)
    const findAgain = async () =>
      isLast ? [] : await ofWholeNode(node, flags, sources, clock.now())
    const ends = await lastEnds(sources)
    const whole = {includes: (user: string) => node !== undefined && user === nodeUser(node)}
    const options = {reason, keepKeys, ends, whole, dryRun}
    const done = await revokeAll(client, {first: certificates, findAgain}, options, clock)
    warnOfOthers(found, flags, progress)
    return {revoked: done.revoked, unchanged: done.unchanged}
  })
}
