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
