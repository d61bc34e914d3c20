import {TrustError} from '../errors.ts'
import {DerError, enterOnly, type Element} from './der-reader.ts'
import {TAG, element, sequence} from './der-writer.ts'
import {canonicalIp, ipFromBytes, ipToBytes} from './ip-address.ts'

/** The subject alternative names that Kubernetes supports. */
export interface SubjectNames {
  dns: string[]
  ips: string[]
  emails: string[]
  uris: string[]
}

export const NO_NAMES: Readonly<SubjectNames> = {dns: [], ips: [], emails: [], uris: []}

/** Context tags of GeneralName. */
const EMAIL = 0x81
const DNS = 0x82
const URI = 0x86
const IP = 0x87

const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const DNS_NAME = new RegExp(`^(\\*\\.)?${LABEL}(\\.${LABEL})*$`, 'i')
const LONGEST_DNS_NAME = 253

const ascii = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'utf8')
  if (bytes.some((byte) => byte >= 0x80)) {
    throw new TrustError('CERTIFICATE_REQUEST_INVALID', 'a subject alternative name is not ASCII')
  }
  return bytes
}

function readAscii({content}: Element): string {
  if (content.some((byte) => byte >= 0x80)) throw new DerError('an alternative name is not ASCII')
  return content.toString('latin1')
}

function readIp({content}: Element): string {
  const address = ipFromBytes(content)
  if (address === undefined) throw new DerError('an IP address has a wrong length')
  return address
}

/** The value of a subject alternative name extension. Other kinds of names are ignored, as in Go. */
export function readSubjectNames(value: Buffer): SubjectNames {
  const names: SubjectNames = {dns: [], ips: [], emails: [], uris: []}
  const found = enterOnly(value, TAG.sequence)
  while (!found.done) {
    const name = found.next()
    if (name.tag === EMAIL) names.emails.push(readAscii(name))
    else if (name.tag === DNS) names.dns.push(readAscii(name))
    else if (name.tag === URI) names.uris.push(readAscii(name))
    else if (name.tag === IP) names.ips.push(readIp(name))
  }
  return names
}

/** The value of a subject alternative name extension; undefined if there is no name. */
export function encodeSubjectNames({
  dns,
  ips,
  emails,
  uris,
}: Readonly<SubjectNames>): Buffer | undefined {
  if (dns.length + ips.length + emails.length + uris.length === 0) return undefined
  return sequence(
    ...dns.map((name) => element(DNS, ascii(name))),
    ...emails.map((name) => element(EMAIL, ascii(name))),
    ...ips.map((address) => element(IP, ipToBytes(address))),
    ...uris.map((uri) => element(URI, ascii(uri))),
  )
}

/** Splits an operator's hosts into DNS names and IP addresses, without duplicates. Wildcards are allowed, as in kubeadm. */
export function namesOfHosts(hosts: readonly string[]): SubjectNames {
  const dns = new Set<string>()
  const ips = new Set<string>()
  for (const host of hosts) {
    const address = canonicalIp(host)
    if (address !== undefined) ips.add(address)
    else if (host.length <= LONGEST_DNS_NAME && DNS_NAME.test(host)) dns.add(host.toLowerCase())
    else {
      throw new TrustError('USAGE', `"${host}" is neither a DNS name nor an IP address`, {
        hints: [
          'use host names such as "node1.example.com" and addresses such as "192.0.2.1" or "2001:db8::1"',
        ],
      })
    }
  }
  return {dns: [...dns], ips: [...ips], emails: [], uris: []}
}

/** The names of `wanted` that are not in `held`. */
export function missingNames(
  held: Readonly<SubjectNames>,
  wanted: Readonly<SubjectNames>,
): string[] {
  const there = new Set([...held.dns.map((name) => name.toLowerCase()), ...held.ips])
  return [...wanted.dns, ...wanted.ips].filter((name) => !there.has(name))
}

export function joinNames(
  left: Readonly<SubjectNames>,
  right: Readonly<SubjectNames>,
): SubjectNames {
  const join = (kind: keyof SubjectNames) => [...new Set([...left[kind], ...right[kind]])]
  return {dns: join('dns'), ips: join('ips'), emails: join('emails'), uris: join('uris')}
}
