import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {
  BOOTSTRAPPER_NAMESPACES,
  bootstrapperNamespaceOf,
  bootstrapperUser,
} from '../../csr/bootstrapper.ts'
import {credentialOf} from '../../csr/user-extra.ts'
import {verdict, type ApproverOpinion, type RuleVerdict} from '../../csr/opinion.ts'
import {hasCode, messageOf} from '../../errors.ts'
import type {Maker} from './request-index.ts'
import {readCredentials, type BootstrapCredential} from './bootstrap-credentials.ts'

/** Why a request is held. */
const REVOKED = 'CredentialRevoked'
const RULE = 'the bootstrap credential that it was requested with is still valid'

const say = (holds: boolean, found: string): RuleVerdict =>
  verdict('live-credential', RULE, holds, found)

function judge(credential: string | undefined, live: readonly BootstrapCredential[]): RuleVerdict {
  if (credential === undefined) {
    // Older servers do not record it, and some tokens of other programs have no id.
    const isAny = live.length > 0
    return say(isAny, isAny ? 'which one it is cannot be told, and there is one' : 'there is none')
  }
  const isLive = live.some((one) => one.credential === credential)
  return say(isLive, isLive ? `it is ${credential}` : `${credential} is none of the live ones`)
}

const isUnreadable = (error: unknown): boolean =>
  hasCode(error, 'FORBIDDEN', 'CERTIFICATE_INVALID', 'PEM_INVALID', 'KEY_INVALID')

/**
 * Whether the credential is live that the node bootstrapper made a request with: what somebody asked for with a stolen one must not be approved
 * after it was revoked. Undefined for every other requester.
 */
export async function credentialRule(
  client: Pick<ApiClient, 'configMaps' | 'secrets'>,
  {spec}: Pick<CertificateSigningRequest, 'spec'>,
  options: CallOptions,
): Promise<RuleVerdict | undefined> {
  const namespace = bootstrapperNamespaceOf(spec.username)
  if (namespace === undefined) return undefined
  try {
    return judge(credentialOf(spec), await readCredentials(client, namespace, options))
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return say(false, `not known: ${messageOf(error)}`)
  }
}

/** Whether a request of that maker counts against others: one of a revoked credential is never approved. */
export type IsLive = (maker: Maker) => boolean

export async function readLiveness(
  client: Pick<ApiClient, 'configMaps' | 'secrets'>,
  options: CallOptions,
): Promise<IsLive> {
  const live = new Map<string, BootstrapCredential[]>()
  for (const namespace of BOOTSTRAPPER_NAMESPACES) {
    try {
      live.set(bootstrapperUser(namespace), await readCredentials(client, namespace, options))
    } catch (error) {
      // What cannot be told apart counts.
      if (!isUnreadable(error)) throw error
    }
  }
  return ({requester, credential}) => {
    const found = live.get(requester)
    return found === undefined || judge(credential, found).holds
  }
}

/** An approver's opinion with the rule. */
export function withCredentialRule(
  opinion: ApproverOpinion,
  rule: RuleVerdict | undefined,
): ApproverOpinion {
  if (rule === undefined || opinion.decision === 'ignore') return opinion
  const rules = [...opinion.rules, rule]
  if (rule.holds || opinion.decision === 'deny') return {...opinion, rules}
  return {...opinion, rules, decision: 'hold', reason: opinion.reason ?? REVOKED}
}

/** Why an approver holds a request; undefined if its credential is live, or if the bootstrapper did not make it. */
export async function credentialObjection(
  approver: string,
  ...request: Parameters<typeof credentialRule>
): Promise<ApproverOpinion | undefined> {
  const rule = await credentialRule(...request)
  return rule === undefined || rule.holds
    ? undefined
    : {approver, decision: 'hold', rules: [rule], reason: REVOKED}
}
