import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {findRecord} from '../../controllers/approval/record-store.ts'
import type {LogEntry} from '../../controllers/signing/log-line.ts'
import {readIssuances} from '../../controllers/signing/read-log.ts'
import {isApproved, isIssued} from '../../csr/conditions.ts'
import {leafCertificateIn} from '../../csr/read-request.ts'
import {nodeUser} from '../../csr/node-names.ts'
import {hasCode, messageOf} from '../../errors.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import {pinOf} from '../../pki/pins.ts'
import {awaitedKey} from './awaited-keys.ts'

/** A certificate that may be revoked, as far as it is known: by its key, by its serial number and issuer, or both. */
export interface KnownCertificate {
  user?: string
  /** Absent if only its key or a line of the log is known. */
  groups?: readonly string[]
  pin?: string
  serial?: string
  /** The name of its CA as text. */
  issuer?: string
  /** The key of its CA, or the SHA-256 of the certificate of its CA: what is known of both. */
  issuerKeyId?: string
  issuerFingerprint?: string
  fingerprint?: string
  /** The CertificateSigningRequest that it came from. */
  request?: string
  notBefore?: Date
  notAfter?: Date
}

export interface CertificateSources {
  client: Pick<ApiClient, 'configMaps' | 'csrs'>
  /** The issuance log; undefined if it is not on this machine. */
  log?: string | undefined
  /** Called about a source that cannot be read. */
  warn: (line: string) => void
}

export const describeCertificate = (certificate: Certificate): KnownCertificate => ({
  user: certificate.subject.commonName,
  groups: certificate.subject.organizations,
  pin: pinOf(certificate),
  serial: certificate.serial,
  issuer: formatName(certificate.issuer),
  ...(certificate.authorityKeyId !== undefined && {issuerKeyId: certificate.authorityKeyId}),
  fingerprint: certificate.fingerprint,
  notBefore: certificate.notBefore,
  notAfter: certificate.notAfter,
})

/** The certificate of a request; none if it has none that can be read. */
export function certificateOfRequest(csr: CertificateSigningRequest): KnownCertificate[] {
  if (!isIssued(csr)) return []
  const {name} = csr.metadata
  try {
    const certificate = leafCertificateIn(csr.status?.certificate ?? '')
    return [{...describeCertificate(certificate), ...(name !== undefined && {request: name})}]
  } catch {
    // Of another program's signer: nothing can be said about it.
    return []
  }
}

/** The end of the subject as the log formats it. Lines of earlier versions have no common name. */
const userOf = ({subject, commonName}: Extract<LogEntry, {subject: string}>): string =>
  commonName ?? /(?:^|, )CN=([^,]*)$/.exec(subject)?.[1] ?? ''

/** The certificate that a line of the log is about. */
export function certificateOfLine(entry: LogEntry): KnownCertificate[] {
  if (entry.decision !== 'issued' || entry.notAfter === undefined) return []
  const {pin, serial, issuer, issuerFingerprint, fingerprint} = entry
  const {request, notBefore, notAfter} = entry
  return [
    {
      user: userOf(entry),
      ...(pin !== undefined && {pin}),
      ...(serial !== undefined && {serial}),
      ...(issuer !== undefined && {issuer}),
      ...(issuerFingerprint !== undefined && {issuerFingerprint}),
      ...(fingerprint !== undefined && {fingerprint}),
      ...(request !== '' && {request}),
      ...(notBefore !== undefined && {notBefore: new Date(notBefore)}),
      notAfter: new Date(notAfter),
    },
  ]
}

/** What the caller may not read is left out, with a warning. */
export async function orWarn<T>(
  read: Promise<T>,
  what: string,
  warn: CertificateSources['warn'],
): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (!hasCode(error, 'FORBIDDEN')) throw error
    warn(`${what} cannot be read: ${messageOf(error)}`)
    return undefined
  }
}

/** Reads the issuance log if it is on this machine. */
export async function readLogOf(
  {log, warn}: Pick<CertificateSources, 'log' | 'warn'>,
  onEntry: (entry: LogEntry) => void,
): Promise<void> {
  if (log !== undefined) await readIssuances(log, onEntry, warn)
}

/** The certificates in the cluster's requests and in the issuance log that are wanted, each once. */
async function collect(
  sources: CertificateSources,
  isWanted: (certificate: KnownCertificate) => boolean,
  inRequest: (csr: CertificateSigningRequest) => KnownCertificate[] = certificateOfRequest,
): Promise<KnownCertificate[]> {
  const found = new Map<string, KnownCertificate>()
  const see = (certificates: readonly KnownCertificate[]) => {
    for (const one of certificates) {
      const key = one.fingerprint ?? ''
      if (isWanted(one)) found.set(key, {...one, ...found.get(key)})
    }
  }
  await sources.client.csrs.list({
    onPage: (items) => {
      for (const csr of items) see(inRequest(csr))
    },
  })
  await readLogOf(sources, (entry) => see(certificateOfLine(entry)))
  return [...found.values()]
}

/** When the last known certificate of a key ends. */
export type LastEnds = (pin: string) => Date | undefined

/**
 * When the last certificate of each key ends; undefined if that cannot be known, without the whole issuance log. A certificate in a line of an
 * earlier version, which does not name the key, may be any key's.
 */
export async function lastEnds(sources: CertificateSources): Promise<LastEnds | undefined> {
  let isWhole = sources.log !== undefined
  const warn = () => {
    isWhole = false
  }
  const ends = new Map<string | undefined, Date>()
  for (const {pin, notAfter} of await collect({...sources, warn}, () => true)) {
    if (notAfter && notAfter > (ends.get(pin) ?? 0)) ends.set(pin, notAfter)
  }
  const latest = (one?: Date, other?: Date) => (one && (!other || one > other) ? one : other)
  return isWhole ? (pin) => latest(ends.get(pin), ends.get(undefined)) : undefined
}

/** `5F:2C` as `openssl x509` prints it, and `5f2c`. */
export const serialOf = (text: string): string | undefined => {
  const digits = text.replaceAll(':', '').toLowerCase()
  return /^[0-9a-f]{1,64}$/.test(digits) ? digits.replace(/^0+(?=.)/, '') : undefined
}

/** The certificates of a request, or else those with a serial number. Also returns the others of the same users. */
export async function certificatesNamed(
  name: string,
  sources: CertificateSources,
): Promise<{named: KnownCertificate[]; others: KnownCertificate[]}> {
  const all = await collect(sources, () => true)
  const ofName = all.filter(({request}) => request === name)
  const serial = serialOf(name)
  const named = ofName.length > 0 ? ofName : all.filter((one) => one.serial === serial)
  const users = new Set(named.map(({user}) => user))
  return {named, others: all.filter((one) => users.has(one.user) && !named.includes(one))}
}

/**
 * All certificates of a node, and the keys that may have its name according to the approver. With `awaitedAt`, also the keys that a certificate of
 * the node may still be issued for: those of approved requests, and of undecided ones that the node itself made.
 */
export async function certificatesOfNode(
  node: string,
  sources: CertificateSources,
  {awaitedAt}: {awaitedAt?: Date | undefined} = {},
): Promise<KnownCertificate[]> {
  const user = nodeUser(node)
  const isOfNode = (one: KnownCertificate) => one.user === user
  const keys: KnownCertificate[] = []
  const found = await collect(sources, isOfNode, (csr) => {
    if (awaitedAt && (isApproved(csr) || csr.spec.username === user)) {
      keys.push(...awaitedKey(csr, awaitedAt).filter(isOfNode))
    }
    return certificateOfRequest(csr)
  })
  const recorded = await recordedKeys(node, sources)
  return withKeys(found, [...keys, ...recorded.map((one) => ({user, ...one}))])
}

/** Certificates, and keys of which no certificate is among them, each once. */
export function withKeys(
  certificates: readonly KnownCertificate[],
  keys: readonly KnownCertificate[],
): KnownCertificate[] {
  const known = new Set(certificates.map(({pin}) => pin))
  const further = keys.filter(({pin}) => !known.has(pin))
  return [...certificates, ...new Map(further.map((one) => [one.pin, one])).values()]
}

async function recordedKeys(
  node: string,
  {client, warn}: CertificateSources,
): Promise<Pick<KnownCertificate, 'pin' | 'notAfter'>[]> {
  const read = findRecord(client, node)
  const {holder, until, previous} = (await orWarn(read, "the record of the node's key", warn)) ?? {}
  return [holder, previous?.pin].flatMap((pin) =>
    pin === undefined ? [] : [{pin, ...(until && {notAfter: until})}],
  )
}

/** The certificates of a key; if none is known, the key alone. */
export async function certificatesOfKey(
  pin: string,
  sources: CertificateSources,
): Promise<KnownCertificate[]> {
  const found = await collect(sources, (one) => one.pin === pin)
  return found.length > 0 ? found : [{pin}]
}

/** Whether there is anything left to revoke. */
export const isCurrent = ({notAfter}: KnownCertificate, now: Date): boolean =>
  notAfter === undefined || notAfter > now
