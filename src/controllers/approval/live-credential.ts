import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Secret} from '../../api/core.ts'
import {isUsableForAuthentication, tokenIdOfUser} from '../../bootstrap/read-token-secret.ts'
import {
  TOKEN_SECRET_NAMESPACE,
  TOKEN_SECRET_TYPE,
  tokenSecretName,
} from '../../bootstrap/token-secret.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions, ResourceClient} from '../../client/resource-client.ts'
import {
  BOOTSTRAPPER_NAMESPACES,
  bootstrapperNamespaceOf,
  bootstrapperUser,
} from '../../csr/bootstrapper.ts'
import {credentialOf} from '../../csr/user-extra.ts'
import {verdict, type ApproverOpinion, type RuleVerdict} from '../../csr/opinion.ts'
import {hasCode, messageOf} from '../../errors.ts'
import {follow, type Copy, type Source} from '../kernel/controller.ts'
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

/** Where the Secrets of bootstrap tokens are. */
export type TokenSecrets = Pick<ResourceClient<Secret>, 'find' | 'list' | 'watch'>

/** The bootstrap tokens as an approver knows them: a join costs no look at the server. */
export class FollowedTokens implements Source {
  readonly #secrets: TokenSecrets
  readonly #known: Source & Copy<Secret>
  readonly start: Source['start']

  constructor(secrets: TokenSecrets) {
    this.#secrets = secrets
    this.#known = follow(secrets, () => [], {
      namespace: TOKEN_SECRET_NAMESPACE,
      fieldSelector: `type=${TOKEN_SECRET_TYPE}`,
    })
    this.start = this.#known.start
  }

  /** Why an approver holds a request: the token that it was made with has been deleted or has expired since. */
  async opinionOn(
    approver: string,
    {spec}: Pick<CertificateSigningRequest, 'spec'>,
    {now, signal}: {now: Date; signal: AbortSignal},
  ): Promise<ApproverOpinion | undefined> {
    const known = await tokenRule((key) => this.#known.find(key), spec, now)
    if (known?.holds !== false) return undefined
    // It may be new.
    const rule = await tokenRule((key) => this.#secrets.find(key, {signal}), spec, now)
    if (rule?.holds !== false) return undefined
    return {approver, decision: 'hold', rules: [rule], reason: REVOKED}
  }
}

/** Whether the bootstrap token that a request was made with is still valid; undefined for every other requester. */
export async function tokenRule(
  find: (key: string) => Promise<Secret | undefined>,
  {username}: Pick<CertificateSigningRequest['spec'], 'username'>,
  now: Date,
): Promise<RuleVerdict | undefined> {
  const id = tokenIdOfUser(username)
  if (id === undefined) return undefined
  const secret = await find(`${TOKEN_SECRET_NAMESPACE}/${tokenSecretName(id)}`)
  if (secret === undefined) return say(false, `the token ${id} is gone`)
  return isUsableForAuthentication(secret, now)
    ? say(true, `it is the token ${id}`)
    : say(false, `the token ${id} cannot be used any more`)
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
