import {NODE_PREFIX, NODES} from '../../csr/node-names.ts'
import type {Asked} from './asked.ts'
import {verdict, type RuleVerdict} from './opinion.ts'

const ENCIPHERMENT = 'key encipherment'

const quoted = (texts: readonly string[]) =>
  texts.length === 0 ? 'none' : texts.map((text) => `"${text}"`).join(', ')

export const signerRule = ({signer}: Asked, wanted: string): RuleVerdict =>
  verdict(`the signer is ${wanted}`, signer === wanted, `the signer is "${signer}"`)

const organizationRule = ({organizations}: Asked): RuleVerdict =>
  verdict(
    `the organization is ${NODES}, and nothing else`,
    organizations.length === 1 && organizations[0] === NODES,
    `the organizations are ${quoted(organizations)}`,
  )

const commonNameRule = ({commonName, node}: Asked): RuleVerdict =>
  verdict(
    `the common name is ${NODE_PREFIX} and a name`,
    node !== undefined,
    `the common name is "${commonName}"`,
  )

/** Keys that cannot encipher leave that usage out: both forms are right. */
function usageRule({usages}: Asked, wanted: readonly string[]): RuleVerdict {
  const given = new Set(usages)
  given.delete(ENCIPHERMENT)
  return verdict(
    `the usages are ${wanted.join(' and ')}, with or without ${ENCIPHERMENT}`,
    given.size === wanted.length && wanted.every((usage) => given.has(usage)),
    `the usages are ${quoted(usages)}`,
  )
}

const alternativeNames = ({names}: Asked) => [
  ...names.dns,
  ...names.ips,
  ...names.emails,
  ...names.uris,
]

/** What a kubelet asks for to be a client, as `isKubeletClient`, rule by rule: contract §13.2. */
export const kubeletClientRules = (asked: Asked): RuleVerdict[] => [
  organizationRule(asked),
  commonNameRule(asked),
  verdict(
    'there are no alternative names',
    alternativeNames(asked).length === 0,
    `the alternative names are ${quoted(alternativeNames(asked))}`,
  ),
  usageRule(asked, ['digital signature', 'client auth']),
]

/** What a kubelet asks for to serve, as `isKubeletServing`, rule by rule: contract §13.2. */
export const kubeletServingRules = (asked: Asked): RuleVerdict[] => [
  organizationRule(asked),
  commonNameRule(asked),
  verdict(
    'the alternative names are DNS names and addresses, at least one',
    asked.names.dns.length + asked.names.ips.length > 0 &&
      asked.names.emails.length + asked.names.uris.length === 0,
    `the alternative names are ${quoted(alternativeNames(asked))}`,
  ),
  usageRule(asked, ['digital signature', 'server auth']),
]
