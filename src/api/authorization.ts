import type {ApiObject} from './meta.ts'

/** Reviews can only be created; the response has the result in `status` (`authorization.k8s.io/v1`). */
export interface SubjectAccessReview extends ApiObject {
  spec: SubjectAccessReviewSpec
  status?: SubjectAccessReviewStatus
}

/** A review inside one namespace. */
export type LocalSubjectAccessReview = SubjectAccessReview

export interface SelfSubjectAccessReview extends ApiObject {
  spec: AccessAttributes
  status?: SubjectAccessReviewStatus
}

export interface SelfSubjectRulesReview extends ApiObject {
  spec: {namespace?: string}
  status?: SubjectRulesReviewStatus
}

interface AccessAttributes {
  resourceAttributes?: ResourceAttributes
  nonResourceAttributes?: {path?: string; verb?: string}
}

interface SubjectAccessReviewSpec extends AccessAttributes {
  user?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}

export interface ResourceAttributes {
  namespace?: string
  verb?: string
  group?: string
  version?: string
  resource?: string
  subresource?: string
  name?: string
  fieldSelector?: SelectorAttributes
  labelSelector?: SelectorAttributes
}

/** What a list or watch is limited to. */
export interface SelectorAttributes {
  rawSelector?: string
  requirements?: SelectorRequirement[]
}

export interface SelectorRequirement {
  key?: string
  operator?: string
  values?: string[]
}

interface SubjectAccessReviewStatus {
  allowed: boolean
  denied?: boolean
  reason?: string
  evaluationError?: string
}

export interface SubjectRulesReviewStatus {
  resourceRules: {
    verbs: string[]
    apiGroups?: string[]
    resources?: string[]
    resourceNames?: string[]
  }[]
  nonResourceRules: {verbs: string[]; nonResourceURLs?: string[]}[]
  /** True if an authorizer cannot list its rules. */
  incomplete: boolean
  evaluationError?: string
}
