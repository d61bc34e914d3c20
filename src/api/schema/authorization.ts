/** Types of questions to the authorizer; parse.ts describes the format. */
export const AUTHORIZATION = `
SubjectAccessReview object | Asks whether somebody may do something.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:SubjectAccessReviewSpec! required | What is wanted.
  3 status:SubjectAccessReviewStatus! | What is observed.

SubjectAccessReviewSpec | Who would do what.
  1* resourceAttributes:ResourceAttributes | An action on a resource.
  2* nonResourceAttributes:NonResourceAttributes | An action on a path.
  3 user:string | Who would act.
  4 groups:[]string | The groups of the user.
  5 extra:map<ExtraValue> | What else is known of the user.
  6 uid:string | The id of who would act.

ResourceAttributes | An action on a resource.
  1 namespace:string | The namespace; empty for all, or for what has none.
  2 verb:string | What would be done.
  3 group:string | The API group.
  4 version:string | The API version.
  5 resource:string | The resource.
  6 subresource:string | The subresource.
  7 name:string | The object's name; empty for all.
  8* fieldSelector:FieldSelectorAttributes | Limits it by fields.
  9* labelSelector:LabelSelectorAttributes | Limits it by labels.

FieldSelectorAttributes | Limits an action by fields.
  1 rawSelector:string | The selector as it stood in the query.
  2 requirements:[]meta.FieldSelectorRequirement | The selector's parts.

LabelSelectorAttributes | Limits an action by labels.
  1 rawSelector:string | The selector as it stood in the query.
  2 requirements:[]meta.LabelSelectorRequirement | The selector's parts.

NonResourceAttributes | An action on a path that is no resource.
  1 path:string | The path.
  2 verb:string | What would be done.

SubjectAccessReviewStatus | The answer.
  1 allowed:bool! required | Whether it is allowed.
  4 denied:bool | Whether it is forbidden for good.
  2 reason:string | Why.
  3 evaluationError:string | What went wrong on the way to the answer.

LocalSubjectAccessReview object | Asks whether somebody may do something in one namespace.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:SubjectAccessReviewSpec! required | What is wanted.
  3 status:SubjectAccessReviewStatus! | What is observed.

SelfSubjectAccessReview object | Asks whether the caller may do something.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:SelfSubjectAccessReviewSpec! required | What is wanted.
  3 status:SubjectAccessReviewStatus! | What is observed.

SelfSubjectAccessReviewSpec | What the caller would do.
  1* resourceAttributes:ResourceAttributes | An action on a resource.
  2* nonResourceAttributes:NonResourceAttributes | An action on a path.

SelfSubjectRulesReview object | Asks for all that the caller may do in a namespace.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:SelfSubjectRulesReviewSpec! required | What is wanted.
  3 status:SubjectRulesReviewStatus! | What is observed.

SelfSubjectRulesReviewSpec | The namespace that is asked about.
  1 namespace:string | Its namespace.

SubjectRulesReviewStatus | All that is allowed.
  1 resourceRules:[]ResourceRule! required | On resources.
  2 nonResourceRules:[]NonResourceRule! required | On paths.
  3 incomplete:bool! required | Whether there may be more.
  4 evaluationError:string | What went wrong on the way to the answer.

ResourceRule | Actions that are allowed on resources.
  1 verbs:[]string! required | What may be done; * is everything.
  2 apiGroups:[]string | The API groups; * is all of them.
  3 resources:[]string | The resources; * is all of them.
  4 resourceNames:[]string | Names of the objects; all of them where empty.

NonResourceRule | Actions that are allowed on paths.
  1 verbs:[]string! required | What may be done; * is everything.
  2 nonResourceURLs:[]string | Paths, with a * at the end at most.
`

/** Types of roles and their bindings; parse.ts describes the format. */
export const RBAC = `
Role object | Permissions within one namespace.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 rules:[]PolicyRule! | What is allowed.

PolicyRule | Actions that are allowed on some things.
  1 verbs:[]string! required | What may be done; * is everything.
  2 apiGroups:[]string | The API groups; * is all of them.
  3 resources:[]string | The resources; * is all of them.
  4 resourceNames:[]string | Names of the objects; all of them where empty.
  5 nonResourceURLs:[]string | Paths, with a * at the end at most.

RoleBinding object | Gives a role's permissions to subjects, within one namespace.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 subjects:[]Subject | Who gets the permissions.
  3 roleRef:RoleRef! required | The role whose permissions are given; it never changes.

Subject atomic | Somebody who gets permissions.
  1 kind:string! required | User, Group or ServiceAccount.
  2 apiGroup:string | Its API group; empty for the core group.
  3 name:string! required | Its name.
  4 namespace:string | The service account's namespace.

RoleRef atomic | The role whose permissions are given.
  1 apiGroup:string! required | Its API group; empty for the core group.
  2 kind:string! required | Role or ClusterRole.
  3 name:string! required | Its name.

ClusterRole object | Permissions in the whole cluster.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 rules:[]PolicyRule! | What is allowed.
  3* aggregationRule:AggregationRule | How the rules are put together from other roles.

AggregationRule | How a cluster role is put together from others.
  1 clusterRoleSelectors:[]meta.LabelSelector | Which roles to take in, by their labels.

ClusterRoleBinding object | Gives a role's permissions to subjects, in the whole cluster.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 subjects:[]Subject | Who gets the permissions.
  3 roleRef:RoleRef! required | The role whose permissions are given; it never changes.
`
