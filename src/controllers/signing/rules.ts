import {NODE_PREFIX, NODES} from '../../csr/node-names.ts'
import {
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
  type WellKnownSigner,
} from '../../csr/signers.ts'
import type {CertificateRequest} from '../../pki/request.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'

/** What a signer puts its name under: seed document, "Signers". What is not said here is permitted. */
interface SignerRules {
  /** The subject has to be a node's. */
  isNode?: true
  /** The kinds of alternative names that may be there. */
  names: readonly (keyof SubjectNames)[]
  /** One name of these kinds has to be there. */
  oneNameOf?: readonly (keyof SubjectNames)[]
  usages?: {
    required: readonly string[]
    /** What may be there besides. */
    optional: readonly string[]
  }
}

const ALL_NAMES = ['dns', 'ips', 'emails', 'uris'] as const
const KIND_NAMES: Record<keyof SubjectNames, string> = {
  dns: 'DNS names',
  ips: 'IP addresses',
  emails: 'email addresses',
  uris: 'URIs',
}

/** Keys that cannot encipher leave that usage out. */
const RULES: Record<WellKnownSigner, SignerRules> = {
  [API_SERVER_CLIENT]: {
    names: ALL_NAMES,
    usages: {required: ['client auth'], optional: ['digital signature', 'key encipherment']},
  },
  [KUBELET_CLIENT]: {
    isNode: true,
    names: [],
    usages: {required: ['digital signature', 'client auth'], optional: ['key encipherment']},
  },
  [KUBELET_SERVING]: {
    isNode: true,
    names: ['dns', 'ips'],
    oneNameOf: ['dns', 'ips'],
    usages: {required: ['digital signature', 'server auth'], optional: ['key encipherment']},
  },
  [LEGACY_UNKNOWN]: {names: ALL_NAMES},
}

type Asked = Pick<CertificateRequest, 'subject' | 'names'>

const quoted = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(', ')
const kinds = (list: readonly (keyof SubjectNames)[]): string =>
  list.map((kind) => KIND_NAMES[kind]).join(' and ')

function subjectProblems({subject}: Asked, {isNode}: SignerRules): string[] {
  if (!isNode) return []
  const {organizations, commonName} = subject
  const isOfNodes = organizations.length === 1 && organizations[0] === NODES
  return [
    ...(isOfNodes
      ? []
      : [`the organizations are [${quoted(organizations)}], and have to be just "${NODES}"`]),
    ...(commonName.startsWith(NODE_PREFIX)
      ? []
      : [`the common name is "${commonName}", and has to begin with "${NODE_PREFIX}"`]),
  ]
}

function nameProblems({names}: Asked, {names: permitted, oneNameOf = []}: SignerRules): string[] {
  const refused = ALL_NAMES.filter((kind) => names[kind].length > 0 && !permitted.includes(kind))
  const permission =
    permitted.length === 0 ? 'no alternative name is' : `only ${kinds(permitted)} are`
  const isNamed = oneNameOf.length === 0 || oneNameOf.some((kind) => names[kind].length > 0)
  return [
    ...(refused.length === 0
      ? []
      : [`there are ${kinds(refused)} among the names, and ${permission} permitted`]),
    ...(isNamed ? [] : [`one of ${kinds(oneNameOf)} has to be among the names`]),
  ]
}

function usageProblems(usages: readonly string[], {usages: rule}: SignerRules): string[] {
  if (!rule) {
    // Nobody would honor such a certificate: it says of itself that it is no CA.
    return usages.includes('cert sign') ? ['the usage "cert sign" is for CAs only'] : []
  }
  const permitted = [...rule.required, ...rule.optional]
  const missing = rule.required.filter((usage) => !usages.includes(usage))
  const beyond = usages.filter((usage) => !permitted.includes(usage))
  return [
    ...(missing.length === 0 ? [] : [`missing required usage ${quoted(missing)}`]),
    ...(beyond.length === 0
      ? []
      : [`the usages ${quoted(beyond)} are not among the permitted ${quoted(permitted)}`]),
  ]
}

/** Why a signer does not sign a request, each with what is permitted; empty where it does. Contract §13.2. */
export function problemsFor(
  signer: WellKnownSigner,
  request: Asked,
  usages: readonly string[],
): string[] {
  const rules = RULES[signer]
  return [
    ...subjectProblems(request, rules),
    ...nameProblems(request, rules),
    ...usageProblems(usages, rules),
  ]
}
