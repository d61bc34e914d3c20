/** One rule of an approver, and what it says of a request. */
export interface RuleVerdict {
  /** What has to hold, in a few words: `the common name is the requester's`. */
  rule: string
  holds: boolean
  /** What was found, a sentence; for people. */
  reason: string
}

/** What an approver thinks of a request, rule by rule. */
export interface ApproverOpinion {
  /** `selfnodeclient`, `nodeclient`, `kubelet-serving`. */
  approver: string
  /** `ignore`: the request is not of the kind that this approver looks at. `hold`: left to a person. */
  decision: 'approve' | 'hold' | 'deny' | 'ignore'
  rules: RuleVerdict[]
}
