import {type Node, TRUST_REPORT} from '../api/node.ts'
import {parseTimestamp} from '../bootstrap/timestamp.ts'
import type {Certificate} from '../pki/certificate.ts'
import {formatName} from '../pki/distinguished-name.ts'
import {parsePin, type Pin} from '../pki/pins.ts'
import {formatTimestamp} from '../runtime.ts'

export {TRUST_REPORT}

export interface ReportedCertificate {
  /** Lower-case hexadecimal. */
  serial: string
  /** The name of the CA that signed it, as text. */
  issuer: string
  /** The key of that CA, which tells CAs of one name apart: its subject key identifier; absent if the certificate does not say. */
  issuerKeyId?: string
  notBefore: string
  notAfter: string
}

/** What a node reports about itself. Nobody checks it: a node can lie, but only about itself. */
export interface TrustReport {
  /** The pins of all CAs that the node accepts for the API server. */
  trusts: Pin[]
  /** The pins of all CAs in the file that kubelets verify their callers with; absent if those are the CAs of the API server. */
  kubeletClients?: Pin[]
  client: ReportedCertificate
  /** Absent if the node does not manage a serving certificate. */
  serving?: ReportedCertificate
  /** When the node last replaced its client certificate; absent if it still has its first. */
  lastRenewal?: string
}

const LONGEST = 16 * 1024
const LONGEST_NAME = 1024
const MOST_PINS = 64
const HEXADECIMAL = /^[0-9a-f]{1,128}$/

export function reportedCertificate({
  serial,
  issuer,
  authorityKeyId,
  notBefore,
  notAfter,
}: Pick<
  Certificate,
  'serial' | 'issuer' | 'authorityKeyId' | 'notBefore' | 'notAfter'
>): ReportedCertificate {
  return {
    serial,
    issuer: formatName(issuer),
    ...(authorityKeyId !== undefined && {issuerKeyId: authorityKeyId}),
    notBefore: formatTimestamp(notBefore),
    notAfter: formatTimestamp(notAfter),
  }
}

export const formatTrustReport = (report: TrustReport): string => JSON.stringify(report)

/** The report of a Node; undefined if there is none, or if it cannot be read. */
export function trustReportOf({metadata}: Pick<Node, 'metadata'>): TrustReport | undefined {
  const text = metadata.annotations?.[TRUST_REPORT]
  if (text === undefined || text.length > LONGEST) return undefined
  try {
    return readReport(fieldsOf(JSON.parse(text)))
  } catch {
    return undefined
  }
}

function readReport({trusts, kubeletClients, client, serving, lastRenewal}: Fields): TrustReport {
  return {
    trusts: pinsOf(trusts),
    ...(kubeletClients !== undefined && {kubeletClients: pinsOf(kubeletClients)}),
    client: readCertificate(fieldsOf(client)),
    ...(serving !== undefined && {serving: readCertificate(fieldsOf(serving))}),
    ...(lastRenewal !== undefined && {lastRenewal: timeOf(lastRenewal)}),
  }
}

function pinsOf(value: unknown): Pin[] {
  if (!Array.isArray(value) || value.length > MOST_PINS) throw new TypeError('not a list of pins')
  return value.map((pin) => parsePin(textOf(pin)))
}

function readCertificate(fields: Fields): ReportedCertificate {
  const {serial, issuer, issuerKeyId, notBefore, notAfter} = fields
  return {
    serial: hexadecimalOf(serial),
    issuer: textOf(issuer),
    ...(issuerKeyId !== undefined && {issuerKeyId: hexadecimalOf(issuerKeyId)}),
    notBefore: timeOf(notBefore),
    notAfter: timeOf(notAfter),
  }
}

type Fields = Partial<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value
  throw new TypeError('not an object')
}

function textOf(value: unknown): string {
  if (typeof value === 'string' && value.length <= LONGEST_NAME) return value
  throw new TypeError('not a text')
}

function hexadecimalOf(value: unknown): string {
  const text = textOf(value)
  if (HEXADECIMAL.test(text)) return text
  throw new TypeError('not hexadecimal')
}

function timeOf(value: unknown): string {
  const time = parseTimestamp(textOf(value))
  if (time) return formatTimestamp(time)
  throw new TypeError('not a time')
}
