import {messageOf} from '../errors.ts'
import type {Authority} from './authority.ts'
import {parseBundle} from './bundle.ts'
import type {LeafSpec} from './catalog.ts'
import {parseCertificate, type Certificate} from './certificate.ts'
import {isMatching, type LeafMaterial} from './pair-store.ts'
import {missingNames, type SubjectNames} from './subject-names.ts'
import {verifyChain} from './verify.ts'
import type {ExtendedKeyUsage} from './usages.ts'

export interface LeafView {
  /** Absent if there is none, or it cannot be read. */
  certificate?: Certificate
  /** Why the leaf cannot be used; empty for a valid one. */
  problems: string[]
}

export interface LeafExpectation {
  leaf: LeafSpec
  authority: Authority
  now: Date
  /** The CAs that should be stored with it; by default those of its own CA. */
  caPem?: string | undefined
  /** Not checked if it is not known. */
  names?: Readonly<SubjectNames>
  /** Whether an operator provided it: then it must work, but may differ from the catalog. */
  isBrought?: boolean
}

const MASTERS = 'system:masters'

/** A client is identified by its name, and by the one group whose rights do not come from RBAC; a server by neither. */
function isUsableSubject({subject}: Certificate, {subject: wanted, usages}: LeafSpec): boolean {
  if (!usages.includes('client auth')) return true
  const isMaster = wanted.organizations?.includes(MASTERS) ?? false
  return (
    subject.commonName === wanted.commonName &&
    (!isMaster || subject.organizations.includes(MASTERS))
  )
}

function isSameSubject({subject}: Certificate, {subject: wanted}: LeafSpec): boolean {
  const {commonName, organizations = []} = wanted
  return (
    subject.commonName === commonName &&
    [...subject.organizations].sort().join('\n') === [...organizations].sort().join('\n')
  )
}

function subjectProblems(certificate: Certificate, {leaf, isBrought}: LeafExpectation): string[] {
  const isRight = isBrought ? isUsableSubject : isSameSubject
  if (isRight(certificate, leaf)) return []
  return [`it is for another subject, "${certificate.subject.commonName}"`]
}

/** While CAs are replaced or added, a file may have some of those that are wanted. */
function bundleProblems(found: readonly Certificate[], wanted: readonly Certificate[]): string[] {
  const lacks = (those: readonly Certificate[], these: readonly Certificate[]) =>
    those.filter(({fingerprint}) => these.every((one) => one.fingerprint !== fingerprint)).length
  const [missing, extra] = [lacks(wanted, found), lacks(found, wanted)]
  if (missing > 0 && extra === found.length) return ["it is stored with another CA's certificate"]
  return [
    ...(missing > 0 ? [`it lacks ${missing} of the ${wanted.length} CAs of the cluster`] : []),
    ...(extra > 0 ? [`it has ${extra} CAs more than the cluster`] : []),
  ]
}

/** Checks each usage separately: a certificate for servers and clients must be valid as both. */
function chainProblems(
  certificate: Certificate,
  {leaf, authority, now}: LeafExpectation,
): string[] {
  const usages = leaf.usages.filter((usage): usage is ExtendedKeyUsage => usage.endsWith(' auth'))
  const reasons = usages.map((usage) => {
    const verdict = verifyChain(certificate, {roots: authority.bundle, usage, now})
    return verdict.ok ? undefined : verdict.reason
  })
  return [...new Set(reasons)].filter((reason) => reason !== undefined)
}

function nameProblems({names}: Certificate, wanted?: Readonly<SubjectNames>): string[] {
  const missing = wanted ? missingNames(names, wanted) : []
  return missing.length > 0 ? [`it does not cover ${missing.join(', ')}`] : []
}

function trustProblems(
  {caPem}: Partial<LeafMaterial>,
  {authority, caPem: wanted = authority.bundlePem}: LeafExpectation,
): string[] {
  if (caPem === undefined) return []
  try {
    return bundleProblems(parseBundle(caPem), parseBundle(wanted))
  } catch (error) {
    return [messageOf(error)]
  }
}

/** Compares a stored leaf with the catalog. */
export function viewLeaf(
  material: Partial<LeafMaterial> | undefined,
  expectation: LeafExpectation,
): LeafView {
  if (material?.certificatePem === undefined) return {problems: ['it is missing']}
  let certificate: Certificate
  try {
    certificate = parseCertificate(material.certificatePem)
  } catch (error) {
    return {problems: [messageOf(error)]}
  }
  const keyProblems =
    material.keyPem === undefined
      ? ['its key is missing']
      : isMatching(material)
        ? []
        : ['its key does not belong to it']
  return {
    certificate,
    problems: [
      ...keyProblems,
      ...chainProblems(certificate, expectation),
      ...subjectProblems(certificate, expectation),
      ...nameProblems(certificate, expectation.names),
      ...trustProblems(material, expectation),
    ],
  }
}
