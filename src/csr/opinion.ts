/** Which rule it is: for programs, as `rule` and `reason` are for people. */
export type RuleCode =
  | 'readable'
  | 'signer'
  | 'organizations'
  | 'common-name'
  | 'names'
  | 'usages'
  | 'requester-is-subject'
  | 'requester-is-no-node'
  | 'requester-is-bootstrapper'
  | 'requester-groups'
  | 'name-count'
  | 'access'
  | 'node-name'
  | 'newest-request'
  | 'machine-name'
  | 'owners-known'
  | 'allowed-for-nodes'
  | 'owned-by-node'
  | 'name-kept'
  | 'not-revoked'
  | 'request-count'
  | 'node-absent'
  | 'machine-found'
  | 'machine-unused'
  | 'machine-expected'
  | 'only-key'
  | 'live-credential'

/** One rule, and what it says of a request. */
export interface RuleVerdict {
  code: RuleCode
  /** What has to hold, in a few words: `the common name is the requester's`. */
  rule: string
  holds: boolean
  /** What was found, a sentence. */
  reason: string
}

type Decision = 'approve' | 'hold' | 'deny' | 'ignore'

/** What an approver thinks of a request, rule by rule. */
export interface ApproverOpinion {
  /** `selfnodeclient`, `nodeclient`, `machine-approver`, `kubelet-serving`. */
  approver: string
  /** `ignore`: the request is not of the kind that this approver looks at. `hold`: left to a person. */
  decision: Decision
  rules: RuleVerdict[]
  /** The word for why it is held or denied, as Events and conditions carry it: `NodeNameTaken`. */
  reason?: string
}

/** What could not be found out, and why. */
export interface Unknown {
  unknown: string
}

export const isUnknown = (fact: object): fact is Unknown => 'unknown' in fact

export const verdict = (
  code: RuleCode,
  rule: string,
  holds: boolean,
  reason: string,
): RuleVerdict => ({code, rule, holds, reason})

export const allHold = (rules: readonly RuleVerdict[]): boolean => rules.every(({holds}) => holds)

/** A request may hold thousands of names. */
const LONGEST_OBJECTION = 1000

/** Why it is not approved, in one sentence. */
export const objections = ({rules}: Pick<ApproverOpinion, 'rules'>): string =>
  rules
    .filter(({holds}) => !holds)
    .map(({reason}) => reason)
    .join('; ')
    .slice(0, LONGEST_OBJECTION)
