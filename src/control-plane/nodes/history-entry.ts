import type {ApproverOpinion} from '../../csr/opinion.ts'

/** One thing that happened to a node. */
export interface HistoryEntry {
  time: string
  /** `joined`: its first certificate, or one after another requester than itself. `renewed`: it asked with its own certificate. */
  what:
    | 'requested'
    | 'approved'
    | 'denied'
    | 'failed'
    | 'joined'
    | 'rejoined'
    | 'renewed'
    | 'issued'
    | 'registered'
    | 'revoked'
  message: string
  request: string | null
  serial: string | null
}

export interface NodeHistory {
  node: string
  /** The oldest first. */
  entries: HistoryEntry[]
  /** Requests that nobody has decided on, with what each approver thinks of them. */
  waiting: {request: string; approvers: ApproverOpinion[]}[]
}
