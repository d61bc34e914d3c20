import {TrustError} from '../errors.ts'
import {DerError, DerReader, readOid, type Element} from './der-reader.ts'
import {TAG, oid, sequence, set, text} from './der-writer.ts'
import {OID} from './oids.ts'

export interface NameAttribute {
  oid: string
  value: string
}

/** A subject or issuer of a certificate or request. */
export interface DistinguishedName {
  /** The last one if there are several, as in Go; empty if there is none. */
  commonName: string
  /** In the order of the certificate, including duplicates: Kubernetes uses them as groups. */
  organizations: string[]
  attributes: NameAttribute[]
  der: Buffer
}

/** The subject of a new certificate. */
export interface Subject {
  commonName: string
  organizations?: readonly string[]
}

/** RFC 5280's ub-common-name. */
const LONGEST_COMMON_NAME = 64
const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/

/** The attributes that Go copies from a request. A requester cannot choose any other, such as a Kubernetes UID. */
const CARRIED_OVER = new Set<string>([
  OID.commonName,
  OID.serialNumber,
  OID.country,
  OID.locality,
  OID.province,
  OID.street,
  OID.organization,
  OID.organizationalUnit,
  OID.postalCode,
])

const SHORT_NAMES: Record<string, string> = {
  [OID.commonName]: 'CN',
  [OID.organization]: 'O',
  [OID.organizationalUnit]: 'OU',
  [OID.country]: 'C',
  [OID.locality]: 'L',
  [OID.province]: 'ST',
}

function readText({tag, content}: Element): string {
  switch (tag) {
    case TAG.utf8String: {
      const value = content.toString('utf8')
      if (!Buffer.from(value, 'utf8').equals(content)) throw new DerError('a name is not UTF-8')
      return value
    }
    case TAG.printableString:
    case TAG.numericString:
    case TAG.ia5String:
      if (content.some((byte) => byte >= 0x80)) throw new DerError('a name is not ASCII')
      return content.toString('latin1')
    case TAG.t61String:
      return content.toString('latin1')
    case TAG.bmpString:
      if (content.length % 2 !== 0) throw new DerError('a name is cut short')
      return Buffer.from(content).swap16().toString('utf16le')
    default:
      throw new DerError('a name contains a value that is not text')
  }
}

export function readName({tag, content, bytes}: Element): DistinguishedName {
  if (tag !== TAG.sequence) throw new DerError('a name is expected')
  const attributes: NameAttribute[] = []
  const relative = new DerReader(content)
  while (!relative.done) {
    const members = relative.enter(TAG.set)
    while (!members.done) {
      const attribute = members.enter(TAG.sequence)
      const id = readOid(attribute.read(TAG.oid))
      attributes.push({oid: id, value: readText(attribute.next())})
      attribute.end()
    }
  }
  return {
    commonName: attributes.findLast((attribute) => attribute.oid === OID.commonName)?.value ?? '',
    organizations: attributes
      .filter((attribute) => attribute.oid === OID.organization)
      .map(({value}) => value),
    attributes,
    der: bytes,
  }
}

/** One relative name per attribute, so that the order of organizations is kept. */
export function encodeAttributes(attributes: readonly NameAttribute[]): Buffer {
  return sequence(
    ...attributes.map((attribute) => {
      const tag = PRINTABLE.test(attribute.value) ? TAG.printableString : TAG.utf8String
      return set(sequence(oid(attribute.oid), text(tag, attribute.value)))
    }),
  )
}

/**
 * Names that we choose have at most RFC 5280's length. Requests may be longer, as in Go: in many clouds the name of a machine is
 * longer with "system:node:" before it.
 */
export function requireShortName({commonName}: Pick<Subject, 'commonName'>): void {
  if (Array.from(commonName).length <= LONGEST_COMMON_NAME) return
  throw new TrustError(
    'CERTIFICATE_REQUEST_INVALID',
    `the common name "${commonName}" is longer than ${LONGEST_COMMON_NAME} characters`,
    {hints: ['choose a shorter name']},
  )
}

export const subjectAttributes = ({commonName, organizations = []}: Subject): NameAttribute[] => [
  ...organizations.map((value) => ({oid: OID.organization, value})),
  ...(commonName === '' ? [] : [{oid: OID.commonName, value: commonName}]),
]

/** What a certificate copies from a request's subject, as Go's `pkix.Name` does: known attributes, the last common name. */
export function carriedOver(name: DistinguishedName): NameAttribute[] {
  const lastCommonName = name.attributes.findLastIndex(({oid: id}) => id === OID.commonName)
  return name.attributes.filter(
    ({oid: id}, index) =>
      CARRIED_OVER.has(id) && (id !== OID.commonName || index === lastCommonName),
  )
}

/** In the order of the certificate. Names are compared by this text. */
export function formatName(name: Pick<DistinguishedName, 'attributes'>): string {
  return name.attributes.map(({oid: id, value}) => `${SHORT_NAMES[id] ?? id}=${value}`).join(', ')
}

const rankOf = ({oid: id}: NameAttribute): number =>
  [OID.organization, OID.commonName].indexOf(id as typeof OID.commonName)

/** For people: `CN=system:node:a, O=system:nodes`, in whatever order they are in the certificate. */
export const formatSubject = ({attributes}: Pick<DistinguishedName, 'attributes'>): string =>
  formatName({attributes: attributes.toSorted((one, other) => rankOf(other) - rankOf(one))})
