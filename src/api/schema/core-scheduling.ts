/** Types of where pods may run; parse.ts tells how a table is read. */
export const SCHEDULING = `
Affinity | Affinity.
  1* nodeAffinity:NodeAffinity | Node affinity.
  2* podAffinity:PodAffinity | Pod affinity.
  3* podAntiAffinity:PodAntiAffinity | Pod anti affinity.

NodeAffinity | Node affinity.
  1* requiredDuringSchedulingIgnoredDuringExecution:NodeSelector | Required during scheduling ignored during execution.
  2 preferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm | Preferred during scheduling ignored during execution.

NodeSelector atomic | Node selector.
  1 nodeSelectorTerms:[]NodeSelectorTerm! required | Node selector terms.

NodeSelectorTerm atomic | Node selector term.
  1 matchExpressions:[]NodeSelectorRequirement | Match expressions.
  2 matchFields:[]NodeSelectorRequirement | Match fields.

NodeSelectorRequirement | Node selector requirement.
  1 key:string! required | Key.
  2 operator:string(NodeSelectorOperator)! required | Operator.
  3 values:[]string | Values.

PreferredSchedulingTerm | Preferred scheduling term.
  1 weight:int32! required | Weight.
  2 preference:NodeSelectorTerm! required | Preference.

PodAffinity | Pod affinity.
  1 requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm | Required during scheduling ignored during execution.
  2 preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm | Preferred during scheduling ignored during execution.

PodAntiAffinity | Pod anti affinity.
  1 requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm | Required during scheduling ignored during execution.
  2 preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm | Preferred during scheduling ignored during execution.

PodAffinityTerm | Pod affinity term.
  1* labelSelector:meta.LabelSelector | Label selector.
  2 namespaces:[]string | Namespaces.
  3 topologyKey:string! required | Topology key.
  4* namespaceSelector:meta.LabelSelector | Namespace selector.
  5 matchLabelKeys:[]string | Match label keys.
  6 mismatchLabelKeys:[]string | Mismatch label keys.

WeightedPodAffinityTerm | Weighted pod affinity term.
  1 weight:int32! required | Weight.
  2 podAffinityTerm:PodAffinityTerm! required | Pod affinity term.

TopologySpreadConstraint | Topology spread constraint.
  1 maxSkew:int32! required | Max skew.
  2 topologyKey:string! required | Topology key.
  3 whenUnsatisfiable:string(UnsatisfiableConstraintAction)! required | When unsatisfiable.
  4* labelSelector:meta.LabelSelector | Label selector.
  5* minDomains:int32 | Min domains.
  6* nodeAffinityPolicy:string(NodeInclusionPolicy) | Node affinity policy.
  7* nodeTaintsPolicy:string(NodeInclusionPolicy) | Node taints policy.
  8 matchLabelKeys:[]string | Match label keys.

Taint | Taint.
  1 key:string! required | Key.
  2 value:string | Value.
  3 effect:string(TaintEffect)! required | Effect.
  4* timeAdded:Time | Time added.

Toleration | Toleration.
  1 key:string | Key.
  2 operator:string(TolerationOperator) | Operator.
  3 value:string | Value.
  4 effect:string(TaintEffect) | Effect.
  5* tolerationSeconds:int64 | Toleration seconds.
`
