/** Exit codes that scripts may rely on; docs/errors.md lists them. */
export const EXIT = {
  failed: 1,
  usage: 2,
  notTrusted: 3,
  denied: 4,
  timedOut: 5,
  conflict: 6,
  due: 7,
} as const

/** Every code a TrustError may carry, with the exit code it ends a command with. */
export const ERROR_CODES = {
  INTERNAL: EXIT.failed,
  USAGE: EXIT.usage,
  CONFIG_INVALID: EXIT.usage,

  ALREADY_EXISTS: EXIT.conflict,
  CONFLICT: EXIT.conflict,
  NOT_FOUND: EXIT.failed,
  INVALID: EXIT.failed,
  BAD_REQUEST: EXIT.failed,
  EXPIRED: EXIT.failed,
  UNAUTHORIZED: EXIT.denied,
  FORBIDDEN: EXIT.denied,
  TOO_MANY_REQUESTS: EXIT.failed,
  SERVER_ERROR: EXIT.failed,
  SERVER_UNREACHABLE: EXIT.failed,
  SERVER_NOT_TRUSTED: EXIT.notTrusted,
  SERVER_NOT_TLS: EXIT.notTrusted,
  TLS_FAILED: EXIT.notTrusted,
  SERVER_CERTIFICATE_EXPIRED: EXIT.notTrusted,
  CLOCK_SKEWED: EXIT.notTrusted,
  REDIRECT_REFUSED: EXIT.notTrusted,
  ANSWER_TOO_LARGE: EXIT.failed,
  NOT_KUBERNETES: EXIT.failed,
  TIMED_OUT: EXIT.timedOut,
  KUBECONFIG_INVALID: EXIT.usage,
  CREDENTIAL_PLUGIN_FAILED: EXIT.denied,

  KEY_INVALID: EXIT.failed,
  CERTIFICATE_INVALID: EXIT.failed,
  CERTIFICATE_REQUEST_INVALID: EXIT.failed,
  PEM_INVALID: EXIT.failed,
  CERTS_UNUSABLE: EXIT.notTrusted,
  SIGNER_EXPIRED: EXIT.notTrusted,
  SIGNER_NOT_YET_VALID: EXIT.notTrusted,
  SIGNER_KEY_MISSING: EXIT.failed,
  PAIR_MISMATCH: EXIT.failed,

  FILE_UNSAFE: EXIT.failed,
  FILE_UNREADABLE: EXIT.failed,
  FILE_UNWRITABLE: EXIT.failed,

  STORE_CORRUPT: EXIT.failed,
  STORE_FOREIGN: EXIT.failed,
  STORE_NEWER: EXIT.failed,
  STORE_LOCKED: EXIT.conflict,
  STORE_WRITE_FAILED: EXIT.failed,
  STORE_COMPACTED: EXIT.failed,
  STORE_CLOSED: EXIT.failed,
  STORE_UNREACHABLE: EXIT.failed,
  STORE_UNCERTAIN: EXIT.failed,
  STORE_VALUE_TOO_LARGE: EXIT.failed,
  BACKUP_INVALID: EXIT.failed,
  BACKUP_NEWER: EXIT.failed,

  TOKEN_MALFORMED: EXIT.usage,
  TOKEN_WEAK: EXIT.usage,
  CLUSTER_INFO_INVALID: EXIT.failed,
  CLUSTER_INFO_CREDENTIALS: EXIT.failed,
  CLUSTER_INFO_MISSING: EXIT.failed,
  CLUSTER_INFO_FORBIDDEN: EXIT.denied,
  CLUSTER_INFO_CHANGED: EXIT.notTrusted,
  SIGNATURE_MISSING: EXIT.notTrusted,
  SIGNATURE_MALFORMED: EXIT.notTrusted,
  SIGNATURE_ALGORITHM_REFUSED: EXIT.notTrusted,
  SIGNATURE_OF_OTHER_TOKEN: EXIT.notTrusted,
  SIGNATURE_WRONG: EXIT.notTrusted,
  PIN_MISMATCH: EXIT.notTrusted,
  CA_UNPINNED: EXIT.notTrusted,
  CA_EXPIRED: EXIT.notTrusted,
  DISCOVERY_FILE_UNAVAILABLE: EXIT.failed,

  CERTIFICATE_DENIED: EXIT.denied,
  CERTIFICATE_FAILED: EXIT.failed,
  CERTIFICATE_PENDING: EXIT.timedOut,
  CERTIFICATE_REQUEST_DELETED: EXIT.failed,
  ALREADY_DECIDED: EXIT.conflict,
  NODE_EXISTS: EXIT.conflict,
  NODE_CERTIFICATE_EXPIRED: EXIT.denied,
  NODE_CERTIFICATE_DUE: EXIT.due,
  NOT_JOINED: EXIT.failed,
  ON_CHANGE_FAILED: EXIT.failed,
  ISSUANCE_LOG_BROKEN: EXIT.notTrusted,
  CA_STILL_IN_USE: EXIT.conflict,
  REVOCATION_UNSUPPORTED: EXIT.failed,
  REVOCATION_PROTECTED: EXIT.conflict,
  REVOCATION_LIST_FULL: EXIT.failed,

  PREFLIGHT_FAILED: EXIT.failed,
  PORT_IN_USE: EXIT.conflict,
  SERVER_NOT_STARTED: EXIT.failed,
} as const

export type ErrorCode = keyof typeof ERROR_CODES

/** A next step. Its commands, in double quotes, are completed with the flags by which the user has chosen the cluster. */
export type Hint = string | {text: string; elsewhere: true}

/** A next step on another machine, which does not have the files that the user has named here. */
export const elsewhere = (text: string): Hint => ({text, elsewhere: true})

export const hintText = (hint: Hint): string => (typeof hint === 'string' ? hint : hint.text)

export const distinctHints = (hints: readonly Hint[]): Hint[] => [
  ...new Map(hints.map((hint) => [hintText(hint), hint])).values(),
]

export interface ErrorDetails {
  cause?: unknown
  hints?: Hint[]
  /** Facts about the failure for `--output json`; never a secret. */
  facts?: Record<string, unknown>
}

/** A failure that a user can act on. Domain code never imports oclif. */
export class TrustError extends Error {
  override name = 'TrustError'
  readonly code: ErrorCode
  readonly oclif: {exit: number}
  readonly hints: Hint[]
  readonly facts: Record<string, unknown>

  constructor(
    code: ErrorCode,
    message: string,
    {cause, hints = [], facts = {}}: ErrorDetails = {},
  ) {
    super(message, {cause})
    this.code = code
    this.oclif = {exit: ERROR_CODES[code]}
    this.hints = hints
    this.facts = facts
  }

  /** The texts of the hints. */
  get suggestions(): string[] {
    return this.hints.map(hintText)
  }
}

export function hasCode(error: unknown, ...codes: ErrorCode[]): error is TrustError {
  return error instanceof TrustError && codes.includes(error.code)
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const FULL = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EFBIG'])
const DEEPEST_CAUSE = 10

/** Whether a disk without room is behind an error. */
export function isDiskFull(error: unknown, depth = DEEPEST_CAUSE): boolean {
  const {code, cause} = (error ?? {}) as {code?: unknown; cause?: unknown}
  return FULL.has(code) || (depth > 0 && cause !== undefined && isDiskFull(cause, depth - 1))
}

/** The code of a Node.js system error (`ENOENT`, …), where it is one. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as {code?: unknown} | null | undefined)?.code
  return error instanceof Error && typeof code === 'string' ? code : undefined
}
