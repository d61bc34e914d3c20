/** Types of questions to the authorizer; parse.ts tells how a table is read. */
export const AUTHORIZATION = `
SubjectAccessReview object | Subject access review.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:SubjectAccessReviewSpec! required | Spec.
  3 status:SubjectAccessReviewStatus! | Status.

SubjectAccessReviewSpec | Subject access review spec.
  1* resourceAttributes:ResourceAttributes | Resource attributes.
  2* nonResourceAttributes:NonResourceAttributes | Non resource attributes.
  3 user:string | User.
  4 groups:[]string | Groups.
  5 extra:map<ExtraValue> | Extra.
  6 uid:string | Uid.

ResourceAttributes | Resource attributes.
  1 namespace:string | Namespace.
  2 verb:string | Verb.
  3 group:string | Group.
  4 version:string | Version.
  5 resource:string | Resource.
  6 subresource:string | Subresource.
  7 name:string | Name.
  8* fieldSelector:FieldSelectorAttributes | Field selector.
  9* labelSelector:LabelSelectorAttributes | Label selector.

FieldSelectorAttributes | Field selector attributes.
  1 rawSelector:string | Raw selector.
  2 requirements:[]meta.FieldSelectorRequirement | Requirements.

LabelSelectorAttributes | Label selector attributes.
  1 rawSelector:string | Raw selector.
  2 requirements:[]meta.LabelSelectorRequirement | Requirements.

NonResourceAttributes | Non resource attributes.
  1 path:string | Path.
  2 verb:string | Verb.

SubjectAccessReviewStatus | Subject access review status.
  1 allowed:bool! required | Allowed.
  4 denied:bool | Denied.
  2 reason:string | Reason.
  3 evaluationError:string | Evaluation error.

LocalSubjectAccessReview object | Local subject access review.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:SubjectAccessReviewSpec! required | Spec.
  3 status:SubjectAccessReviewStatus! | Status.

SelfSubjectAccessReview object | Self subject access review.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:SelfSubjectAccessReviewSpec! required | Spec.
  3 status:SubjectAccessReviewStatus! | Status.

SelfSubjectAccessReviewSpec | Self subject access review spec.
  1* resourceAttributes:ResourceAttributes | Resource attributes.
  2* nonResourceAttributes:NonResourceAttributes | Non resource attributes.

SelfSubjectRulesReview object | Self subject rules review.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:SelfSubjectRulesReviewSpec! required | Spec.
  3 status:SubjectRulesReviewStatus! | Status.

SelfSubjectRulesReviewSpec | Self subject rules review spec.
  1 namespace:string | Namespace.

SubjectRulesReviewStatus | Subject rules review status.
  1 resourceRules:[]ResourceRule! required | Resource rules.
  2 nonResourceRules:[]NonResourceRule! required | Non resource rules.
  3 incomplete:bool! required | Incomplete.
  4 evaluationError:string | Evaluation error.

ResourceRule | Resource rule.
  1 verbs:[]string! required | Verbs.
  2 apiGroups:[]string | Api groups.
  3 resources:[]string | Resources.
  4 resourceNames:[]string | Resource names.

NonResourceRule | Non resource rule.
  1 verbs:[]string! required | Verbs.
  2 nonResourceURLs:[]string | Non resource urls.
`
