import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {CertificateRequest} from '../pki/request.ts'
import {allHold, verdict, type RuleVerdict} from './opinion.ts'
import {isUnambiguous} from './read-request.ts'
import {contentOf, type RequestContent} from './requested-certificate.ts'
import {NAME_KINDS, type Choice, type NameKind, type SignerRules} from './signers.ts'

const KIND_NAMES: Record<NameKind, string> = {
  dns: 'DNS names',
  ips: 'IP addresses',
  emails: 'email addresses',
  uris: 'URIs',
}

/** A request may hold thousands of names. */
const MOST_QUOTED = 20

function quoted(texts: readonly string[]): string {
  if (texts.length === 0) return 'none'
  const first = texts.slice(0, MOST_QUOTED).map((text) => `"${text}"`)
  const left = texts.length - first.length
  return `${first.join(', ')}${left > 0 ? ` and ${left} more` : ''}`
}

function choiceText({required, optional}: Choice): string {
  const must = required.join(' and ')
  const may = optional.join(', ')
  if (optional.length === 0) return must === '' ? 'none' : `${must}, and nothing else`
  return must === '' ? `among ${may}` : `${must}, with or without ${may}`
}

const missingOf = (given: readonly string[], {required}: Choice): string[] =>
  required.filter((one) => !given.includes(one))

const beyondOf = (given: readonly string[], {required, optional}: Choice): string[] =>
  given.filter((one) => !required.includes(one) && !optional.includes(one))

/** A subject's organizations become groups, and Kubernetes compares them as a list: none may be there twice. */
function organizationRule({organizations}: RequestContent, choice: Choice): RuleVerdict {
  const isRepeated = new Set(organizations).size < organizations.length
  return verdict(
    'organizations',
    `the organizations are ${choiceText(choice)}`,
    !isRepeated &&
      missingOf(organizations, choice).length + beyondOf(organizations, choice).length === 0,
    `the organizations are ${quoted(organizations)}`,
  )
}

/** One `*` stands for one or more characters. */
function matchesPattern(text: string, pattern: string): boolean {
  const [start = '', end] = pattern.split('*')
  if (end === undefined) return text === pattern
  return text.length > start.length + end.length && text.startsWith(start) && text.endsWith(end)
}

const commonNameRule = ({commonName}: RequestContent, pattern: string): RuleVerdict =>
  verdict(
    'common-name',
    `the common name is ${pattern}`,
    matchesPattern(commonName, pattern),
    `the common name is "${commonName}"`,
  )

function nameRule({names}: RequestContent, {names: kinds, needsName}: SignerRules): RuleVerdict {
  const given = NAME_KINDS.filter((kind) => names[kind].length > 0)
  const permitted = kinds.map((kind) => KIND_NAMES[kind]).join(' or ')
  const rule =
    kinds.length === 0
      ? 'there are no alternative names'
      : `the alternative names are ${permitted}${needsName ? ', at least one' : ''}`
  return verdict(
    'names',
    rule,
    given.every((kind) => kinds.includes(kind)) && !(needsName && given.length === 0),
    `the alternative names are ${quoted(given.flatMap((kind) => names[kind]))}`,
  )
}

const CERT_SIGN = 'cert sign'

function usageRule({usages}: RequestContent, choice: Choice | undefined): RuleVerdict {
  if (choice === undefined) {
    // Nobody would honor such a certificate: it says of itself that it is no CA.
    const found = `the usage "${CERT_SIGN}" is for CAs only`
    return verdict('usages', `"${CERT_SIGN}" is not a usage`, !usages.includes(CERT_SIGN), found)
  }
  const missing = missingOf(usages, choice)
  const beyond = beyondOf(usages, choice)
  const found = [
    `the usages are ${quoted(usages)}`,
    ...(missing.length === 0 ? [] : [`missing required usage ${quoted(missing)}`]),
    ...(beyond.length === 0 ? [] : [`not permitted: ${quoted(beyond)}`]),
  ]
  return verdict(
    'usages',
    `the usages are ${choiceText(choice)}`,
    missing.length + beyond.length === 0,
    found.join(', '),
  )
}

/** What the rules of a signer say of a request. Approvers decide by the same. */
export function requestVerdicts(content: RequestContent, rules: SignerRules): RuleVerdict[] {
  const {organizations, commonName} = rules
  return [
    ...(organizations === undefined ? [] : [organizationRule(content, organizations)]),
    ...(commonName === undefined ? [] : [commonNameRule(content, commonName)]),
    nameRule(content, rules),
    usageRule(content, rules.usages),
  ]
}

/** Whether a request asks for what a signer signs. */
export const isPermitted = (content: RequestContent, rules: SignerRules): boolean =>
  allHold(requestVerdicts(content, rules))

const AMBIGUOUS =
  'it must be a single PEM block without headers, or others may read another request in it'

/** Why a signer does not sign a request, each with what it expects; empty if it does. */
export function problemsOf(
  {request: encoded, usages}: CertificateSigningRequest['spec'],
  request: Pick<CertificateRequest, 'subject' | 'names'>,
  rules: SignerRules,
): string[] {
  if (!isUnambiguous(encoded)) return [AMBIGUOUS]
  return requestVerdicts(contentOf(request, usages), rules)
    .filter(({holds}) => !holds)
    .map(({rule, reason}) => `${reason} (expected: ${rule})`)
}
