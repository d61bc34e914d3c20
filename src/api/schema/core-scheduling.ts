/** Types of where pods may run; parse.ts describes the format. */
export const SCHEDULING = `
Affinity | Rules that draw a pod to nodes and other pods, or away from them.
  1* nodeAffinity:NodeAffinity | Draws to nodes.
  2* podAffinity:PodAffinity | Draws to other pods.
  3* podAntiAffinity:PodAntiAffinity | Keeps away from other pods.

NodeAffinity | Rules that draw a pod to nodes.
  1* requiredDuringSchedulingIgnoredDuringExecution:NodeSelector | What must hold when the pod is scheduled.
  2 preferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm | What should hold when the pod is scheduled.

NodeSelector atomic | Nodes that fit at least one of several terms.
  1 nodeSelectorTerms:[]NodeSelectorTerm! required | Terms, of which one must fit.

NodeSelectorTerm atomic | Requirements that a node must all meet.
  1 matchExpressions:[]NodeSelectorRequirement | Requirements on labels.
  2 matchFields:[]NodeSelectorRequirement | Requirements on fields.

NodeSelectorRequirement | A requirement on one label or field of a node.
  1 key:string! required | The label's or field's name.
  2 operator:string(NodeSelectorOperator)! required | How the values are compared.
  3 values:[]string | The values to compare with.

PreferredSchedulingTerm | A term that counts in a node's favour.
  1 weight:int32! required | How much it counts, from 1 to 100.
  2 preference:NodeSelectorTerm! required | The term.

PodAffinity | Rules that draw a pod to where other pods run.
  1 requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm | What must hold when the pod is scheduled.
  2 preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm | What should hold when the pod is scheduled.

PodAntiAffinity | Rules that keep a pod away from where other pods run.
  1 requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm | What must hold when the pod is scheduled.
  2 preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm | What should hold when the pod is scheduled.

PodAffinityTerm | Other pods, and what counts as the same place.
  1* labelSelector:meta.LabelSelector | Which pods are meant, by their labels.
  2 namespaces:[]string | Namespaces of the other pods.
  3 topologyKey:string! required | The label of nodes that tells which of them are in one place.
  4* namespaceSelector:meta.LabelSelector | Namespaces of the other pods, by their labels.
  5 matchLabelKeys:[]string | Labels whose values are taken from the pod itself and added to the selector.
  6 mismatchLabelKeys:[]string | Labels whose values are taken from the pod itself and must differ.

WeightedPodAffinityTerm | A term that counts in a place's favour.
  1 weight:int32! required | How much it counts, from 1 to 100.
  2 podAffinityTerm:PodAffinityTerm! required | The term.

TopologySpreadConstraint | How evenly pods are spread over zones, nodes and the like.
  1 maxSkew:int32! required | By how many pods two places may differ.
  2 topologyKey:string! required | The label of nodes that tells which of them are in one place.
  3 whenUnsatisfiable:string(UnsatisfiableConstraintAction)! required | What to do where that cannot be: DoNotSchedule or ScheduleAnyway.
  4* labelSelector:meta.LabelSelector | Which pods are meant, by their labels.
  5* minDomains:int32 | How many places there should be at least.
  6* nodeAffinityPolicy:string(NodeInclusionPolicy) | Whether the pod's node affinity limits the places.
  7* nodeTaintsPolicy:string(NodeInclusionPolicy) | Whether taints limit the places.
  8 matchLabelKeys:[]string | Labels whose values are taken from the pod itself and added to the selector.

Taint | Keeps away pods that do not tolerate it.
  1 key:string! required | The taint's name.
  2 value:string | The value.
  3 effect:string(TaintEffect)! required | NoSchedule, PreferNoSchedule or NoExecute.
  4* timeAdded:Time | When it was added.

Toleration | Lets a pod run in spite of a taint.
  1 key:string | The taint's name; every taint where empty.
  2 operator:string(TolerationOperator) | How the values are compared.
  3 value:string | The value.
  4 effect:string(TaintEffect) | NoSchedule, PreferNoSchedule or NoExecute.
  5* tolerationSeconds:int64 | How long a NoExecute taint is tolerated.
`
