import {
  DerError,
  DerReader,
  enterOnly,
  readBits,
  readBoolean,
  readOid,
  readSmallInteger,
} from './der-reader.ts'
import {TAG} from './der-writer.ts'
import {OID} from './oids.ts'
import {NO_NAMES, readSubjectNames, type SubjectNames} from './subject-names.ts'
import {extendedUsageOf, keyUsageOf, type KeyUsage} from './usages.ts'

export interface Extension {
  oid: string
  critical: boolean
  value: Buffer
}

/** The extensions of a certificate. */
export interface ExtensionFacts {
  names: Readonly<SubjectNames>
  isAuthority: boolean
  /** How many CAs may follow below this one. */
  pathLength?: number
  /** Absent if there is no such extension: then every usage is allowed. */
  keyUsages?: KeyUsage[]
  /** Kubernetes' names, or object identifiers if it has none. Absent if there is no such extension. */
  extendedKeyUsages?: string[]
  subjectKeyId?: string
  authorityKeyId?: string
  /** Unsupported critical extensions, and name constraints: a chain with one of these is not trusted. */
  notUnderstood: string[]
}

const KEY_ID = 0x80
const URI = 0x86

/** A SEQUENCE OF Extension. Duplicates are refused. */
export function readExtensions(list: DerReader): Extension[] {
  const found = new Map<string, Extension>()
  while (!list.done) {
    const one = list.enter(TAG.sequence)
    const id = readOid(one.read(TAG.oid))
    const flag = one.optional(TAG.boolean)
    const value = one.read(TAG.octetString).content
    one.end()
    if (found.has(id)) throw new DerError(`the extension ${id} appears twice`)
    found.set(id, {oid: id, critical: flag !== undefined && readBoolean(flag), value})
  }
  return [...found.values()]
}

function readBasicConstraints(value: Buffer): Pick<ExtensionFacts, 'isAuthority' | 'pathLength'> {
  const inner = enterOnly(value, TAG.sequence)
  const flag = inner.optional(TAG.boolean)
  const length = inner.optional(TAG.integer)
  inner.end()
  return {
    isAuthority: flag !== undefined && readBoolean(flag),
    ...(length && {pathLength: readSmallInteger(length)}),
  }
}

function readKeyUsages(value: Buffer): KeyUsage[] {
  return readBits(new DerReader(value).read(TAG.bitString))
    .map(keyUsageOf)
    .filter((usage) => usage !== undefined)
}

function readExtendedKeyUsages(value: Buffer): string[] {
  const inner = enterOnly(value, TAG.sequence)
  const usages: string[] = []
  while (!inner.done) usages.push(extendedUsageOf(readOid(inner.read(TAG.oid))))
  return usages
}

/** As in Go: these help to find other certificates, and must not be critical. */
function refuseCritical(name: string, critical: boolean): void {
  if (critical) throw new DerError(`${name} is marked critical`)
}

/** Nothing is fetched from its URLs, but, as in Go, a certificate with a malformed one is refused. */
function checkInfoAccess(value: Buffer): void {
  const list = enterOnly(value, TAG.sequence)
  while (!list.done) {
    const one = list.enter(TAG.sequence)
    readOid(one.read(TAG.oid))
    const uri = one.optional(URI)
    if (uri?.content.some((byte) => byte >= 0x80)) {
      throw new DerError('the authority information access is not ASCII')
    }
  }
}

/** Reads the supported extensions. */
export function factsOf(extensions: readonly Extension[]): ExtensionFacts {
  const facts: ExtensionFacts = {names: NO_NAMES, isAuthority: false, notUnderstood: []}
  for (const {oid, critical, value} of extensions) {
    switch (oid) {
      case OID.subjectAltName:
        facts.names = readSubjectNames(value)
        break
      case OID.basicConstraints:
        Object.assign(facts, readBasicConstraints(value))
        break
      case OID.keyUsage:
        facts.keyUsages = readKeyUsages(value)
        break
      case OID.extendedKeyUsage:
        facts.extendedKeyUsages = readExtendedKeyUsages(value)
        break
      case OID.subjectKeyId:
        refuseCritical('the subject key identifier', critical)
        facts.subjectKeyId = new DerReader(value).read(TAG.octetString).content.toString('hex')
        break
      case OID.authorityKeyId: {
        refuseCritical('the authority key identifier', critical)
        const keyId = enterOnly(value, TAG.sequence).optional(KEY_ID)
        if (keyId) facts.authorityKeyId = keyId.content.toString('hex')
        break
      }
      case OID.authorityInfoAccess:
        refuseCritical('the authority information access', critical)
        checkInfoAccess(value)
        break
      default:
        if (oid === OID.nameConstraints || (critical && oid !== OID.certificatePolicies)) {
          facts.notUnderstood.push(oid)
        }
    }
  }
  return facts
}
