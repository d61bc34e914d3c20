import {messageOf} from '../errors.ts'
import type {Authority} from './authority.ts'
import {isSameBundle} from './bundle.ts'
import type {LeafSpec} from './catalog.ts'
import {parseCertificate, type Certificate} from './certificate.ts'
import {isMatching, type LeafMaterial} from './pair-store.ts'
import {missingNames, type SubjectNames} from './subject-names.ts'
import {verifyChain} from './verify.ts'
import type {ExtendedKeyUsage} from './usages.ts'

export interface LeafView {
  /** Absent where there is none, or none that can be read. */
  certificate?: Certificate
  /** Why the leaf cannot be used as the catalog wants it; empty for a good one. */
  problems: string[]
}

export interface LeafExpectation {
  leaf: LeafSpec
  authority: Authority
  now: Date
  /** Not looked at where it is not known. */
  names?: Readonly<SubjectNames>
}

function subjectProblems({subject}: Certificate, leaf: LeafSpec): string[] {
  const {commonName, organizations = []} = leaf.subject
  const isSame =
    subject.commonName === commonName &&
    [...subject.organizations].sort().join('\n') === [...organizations].sort().join('\n')
  return isSame ? [] : [`it is for another subject, "${subject.commonName}"`]
}

/** Each usage on its own: a certificate for servers and clients has to hold as both. */
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

function trustProblems({caPem}: Partial<LeafMaterial>, {bundlePem}: Authority): string[] {
  if (caPem === undefined) return []
  try {
    return isSameBundle(caPem, bundlePem) ? [] : ["it is kept with another CA's certificate"]
  } catch (error) {
    return [messageOf(error)]
  }
}

/** Looks at what is kept of a leaf with the eyes of the catalog. */
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
      ...subjectProblems(certificate, expectation.leaf),
      ...nameProblems(certificate, expectation.names),
      ...trustProblems(material, expectation.authority),
    ],
  }
}
