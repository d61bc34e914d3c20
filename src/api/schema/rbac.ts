/** Types of roles and their bindings; parse.ts tells how a table is read. */
export const RBAC = `
Role object | Role.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 rules:[]PolicyRule! | Rules.

PolicyRule | Policy rule.
  1 verbs:[]string! required | Verbs.
  2 apiGroups:[]string | Api groups.
  3 resources:[]string | Resources.
  4 resourceNames:[]string | Resource names.
  5 nonResourceURLs:[]string | Non resource urls.

RoleBinding object | Role binding.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 subjects:[]Subject | Subjects.
  3 roleRef:RoleRef! required | Role ref.

Subject atomic | Subject.
  1 kind:string! required | Kind.
  2 apiGroup:string | Api group.
  3 name:string! required | Name.
  4 namespace:string | Namespace.

RoleRef atomic | Role ref.
  1 apiGroup:string! required | Api group.
  2 kind:string! required | Kind.
  3 name:string! required | Name.

ClusterRole object | Cluster role.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 rules:[]PolicyRule! | Rules.
  3* aggregationRule:AggregationRule | Aggregation rule.

AggregationRule | Aggregation rule.
  1 clusterRoleSelectors:[]meta.LabelSelector | Cluster role selectors.

ClusterRoleBinding object | Cluster role binding.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 subjects:[]Subject | Subjects.
  3 roleRef:RoleRef! required | Role ref.
`
