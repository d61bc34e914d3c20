import type {Secret} from '../api/core.ts'
import type {UserInfo} from '../api/meta.ts'
import {parseTimestamp} from './timestamp.ts'
import {
  type BootstrapTokenInfo,
  groupsOfUser,
  isBootstrapGroup,
  splitGroups,
  type TokenUsage,
} from './token-info.ts'
import {
  TOKEN_KEY,
  TOKEN_SECRET_NAMESPACE,
  TOKEN_SECRET_PREFIX,
  TOKEN_SECRET_TYPE,
} from './token-secret.ts'
import {
  type BootstrapToken,
  formatToken,
  isSameSecret,
  isToken,
  isTokenId,
  isTokenSecret,
} from './token.ts'

export interface TokenProblem {
  /** The field that is wrong. */
  field: string
  /** A sentence that contains no value of the Secret. */
  message: string
  /** What the token cannot be used for because of it. */
  blocks: readonly TokenUsage[]
}

/** The token in a Secret, and all problems with it. */
export interface TokenVerdict {
  /** Absent if the Secret is not a token; present even if the token cannot be used any more. */
  info?: BootstrapTokenInfo
  problems: TokenProblem[]
}

const UNREADABLE = 'unreadable'

interface Facts {
  secret: Secret
  id: string
  values: (key: string) => string
  expires: Date | typeof UNREADABLE | undefined
  groups: string[]
  now: Date
}

interface Rule extends TokenProblem {
  broken: (facts: Facts) => boolean
}

const BOTH = ['signing', 'authentication'] as const

/** Without these it is not a token: Kubernetes ignores such a Secret everywhere. */
const IDENTITY: Rule[] = [
  {
    field: 'metadata.namespace',
    message: `it is not in ${TOKEN_SECRET_NAMESPACE}`,
    blocks: BOTH,
    broken: ({secret}) =>
      (secret.metadata.namespace ?? TOKEN_SECRET_NAMESPACE) !== TOKEN_SECRET_NAMESPACE,
  },
  {
    field: 'type',
    message: `its type is not ${TOKEN_SECRET_TYPE}`,
    blocks: BOTH,
    broken: ({secret}) => secret.type !== TOKEN_SECRET_TYPE,
  },
  {
    field: 'metadata.name',
    message: `its name is not ${TOKEN_SECRET_PREFIX} and a token id`,
    blocks: BOTH,
    broken: ({id}) => !isTokenId(id),
  },
  {
    field: TOKEN_KEY.id,
    message: `its ${TOKEN_KEY.id} is not the one in its name`,
    blocks: BOTH,
    broken: ({id, values}) => values(TOKEN_KEY.id) !== id,
  },
  {
    field: TOKEN_KEY.secret,
    message: `it has no ${TOKEN_KEY.secret}`,
    blocks: BOTH,
    broken: ({values}) => values(TOKEN_KEY.secret) === '',
  },
]

const USE: Rule[] = [
  {
    field: TOKEN_KEY.secret,
    message: `its ${TOKEN_KEY.secret} is not 16 characters of a-z and 0-9`,
    // Kubernetes signs with it, although nobody can authenticate: a short one could be guessed from the signature, which is public.
    blocks: BOTH,
    broken: ({values}) =>
      values(TOKEN_KEY.secret) !== '' && !isTokenSecret(values(TOKEN_KEY.secret)),
  },
  {
    field: 'metadata.deletionTimestamp',
    message: 'it is being deleted',
    blocks: BOTH,
    broken: ({secret}) => secret.metadata.deletionTimestamp != null,
  },
  {
    field: TOKEN_KEY.expiration,
    message: 'its expiration is not an RFC 3339 time, so it counts as expired',
    blocks: BOTH,
    broken: ({expires}) => expires === UNREADABLE,
  },
  {
    field: TOKEN_KEY.expiration,
    message: 'it has expired',
    blocks: BOTH,
    broken: ({expires, now}) => expires instanceof Date && expires <= now,
  },
  {
    field: TOKEN_KEY.signing,
    message: 'it is not for signing',
    blocks: ['signing'],
    broken: ({values}) => values(TOKEN_KEY.signing) !== 'true',
  },
  {
    field: TOKEN_KEY.authentication,
    message: 'it is not for authentication',
    blocks: ['authentication'],
    broken: ({values}) => values(TOKEN_KEY.authentication) !== 'true',
  },
  {
    field: TOKEN_KEY.groups,
    message: 'it has a group that no token may have',
    blocks: ['authentication'],
    broken: ({groups}) => !groups.every(isBootstrapGroup),
  },
]

/** Reads a Secret by all rules of Kubernetes' signer, its authenticator and kubeadm. */
export function readTokenSecret(secret: Secret, now: Date): TokenVerdict {
  const facts = factsOf(secret, now)
  const foreign = problemsOf(IDENTITY, facts)
  const problems = [...foreign, ...problemsOf(USE, facts)]
  return foreign.length > 0 ? {problems} : {info: infoOf(facts), problems}
}

/**
 * When the Secret's token expires: undefined for never, and 1970 if the expiration cannot be read, which
 * counts as expired.
 */
export function expirationOf(secret: Secret): Date | undefined {
  const expires = readExpiration(secret)
  return expires === UNREADABLE ? new Date(0) : expires
}

function readExpiration(secret: Secret): Date | typeof UNREADABLE | undefined {
  const text = valueOf(secret, TOKEN_KEY.expiration)
  return text === '' ? undefined : (parseTimestamp(text) ?? UNREADABLE)
}

function factsOf(secret: Secret, now: Date): Facts {
  const name = secret.metadata.name ?? ''
  const values = (key: string) => valueOf(secret, key)
  return {
    secret,
    id: name.startsWith(TOKEN_SECRET_PREFIX) ? name.slice(TOKEN_SECRET_PREFIX.length) : '',
    values,
    expires: readExpiration(secret),
    groups: [
      ...new Set(
        [TOKEN_KEY.groups, TOKEN_KEY.formerGroups].flatMap((key) => splitGroups(values(key))),
      ),
    ],
    now,
  }
}

function infoOf({secret, id, values, groups}: Facts): BootstrapTokenInfo {
  const expires = expirationOf(secret)
  return {
    token: {id, secret: values(TOKEN_KEY.secret)},
    description: values(TOKEN_KEY.description),
    ...(expires && {expires}),
    usages: {
      signing: values(TOKEN_KEY.signing) === 'true',
      authentication: values(TOKEN_KEY.authentication) === 'true',
    },
    groups,
  }
}

function problemsOf(rules: Rule[], facts: Facts): TokenProblem[] {
  return rules
    .filter(({broken}) => broken(facts))
    .map(({field, message, blocks}) => ({field, message, blocks}))
}

function valueOf({data}: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString()
}

export const TOKEN_USER_PREFIX = 'system:bootstrap:'

/** The token in a Secret, if it may sign cluster-info. As Kubernetes' bootstrap signer decides, but for malformed secrets. */
export function signingToken(secret: Secret, now: Date): BootstrapToken | undefined {
  const verdict = readTokenSecret(secret, now)
  return isBlocked(verdict, 'signing') ? undefined : verdict.info?.token
}

export const isUsableForSigning = (secret: Secret, now: Date): boolean =>
  signingToken(secret, now) !== undefined

/** The id of the token that a user has authenticated with; undefined if it was none. */
export const tokenIdOfUser = (username = ''): string | undefined =>
  username.startsWith(TOKEN_USER_PREFIX) ? username.slice(TOKEN_USER_PREFIX.length) : undefined

/** Whether somebody can still authenticate with the token in a Secret. */
export const isUsableForAuthentication = (secret: Secret, now: Date): boolean =>
  !isBlocked(readTokenSecret(secret, now), 'authentication')

/**
 * The user of a presented token, from the Secret of its id. The groups are sorted; the caller adds `system:authenticated`.
 * Undefined if the token is not accepted, for whatever reason.
 */
export function authenticatesAs(
  secret: Secret,
  presented: BootstrapToken,
  now: Date,
): UserInfo | undefined {
  const verdict = readTokenSecret(secret, now)
  const {info} = verdict
  if (!info || isBlocked(verdict, 'authentication') || !isToken(formatToken(presented))) {
    return undefined
  }
  const {token} = info
  if (token.id !== presented.id || !isSameSecret(token.secret, presented.secret)) return undefined
  const groups = groupsOfUser(info.groups)
  return groups && {username: TOKEN_USER_PREFIX + token.id, groups}
}

/** When the token of a Secret expires; undefined for never. */
export const tokenExpirationOf = (secret: Secret, now: Date): Date | undefined =>
  readTokenSecret(secret, now).info?.expires

function isBlocked({problems}: TokenVerdict, usage: TokenUsage): boolean {
  return problems.some(({blocks}) => blocks.includes(usage))
}
