/** Types of namespaces, configuration, service accounts and references; parse.ts describes the format. */
export const CORE = `
Namespace object | A space of names that keeps objects of different users or programs apart.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:NamespaceSpec! | What is wanted.
  3 status:NamespaceStatus! | What is observed.

NamespaceSpec | What a namespace should be.
  1 finalizers:[]string(FinalizerName) | Who must have cleaned up before the namespace goes away.

NamespaceStatus | How far a namespace is in its life.
  1 phase:string(NamespacePhase) | Active or Terminating.
  2 conditions:[]NamespaceCondition merge(type) | Observations, one of each type.

NamespaceCondition | An observation about a namespace, mostly about its deletion.
  1 type:string(NamespaceConditionType)! required | What is observed.
  2 status:string(ConditionStatus)! required | What is observed.
  4 lastTransitionTime:Time! | When the status last changed.
  5 reason:string | One word for why.
  6 message:string | A sentence that says more.

Secret object | Data that only few should read: passwords, keys, tokens.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  5* immutable:bool | Whether nothing but the metadata can change any more.
  2 data:map<bytes> | The entries, in base64.
  4 stringData:map<string> | Entries in plain text; they are moved to data when written.
  3 type:string(SecretType) | What the Secret is for; tells which entries it must have.

ConfigMap object | Settings for programs, read as files or as variables.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  4* immutable:bool | Whether nothing but the metadata can change any more.
  2 data:map<string> | The entries that are text.
  3 binaryData:map<bytes> | The entries that are bytes, in base64.

ServiceAccount object | An identity for programs that run in pods.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 secrets:[]ObjectReference merge(name) | Secrets that pods of this account may use.
  3 imagePullSecrets:[]LocalObjectReference | Secrets to pull images with.
  4* automountServiceAccountToken:bool | Whether containers get a token of the service account.

Binding object | Puts a pod onto a node.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 target:ObjectReference! required | The node.

ObjectReference atomic | Points at another object.
  1 kind:string | Its kind.
  2 namespace:string | Its namespace.
  3 name:string | Its name.
  4 uid:string(types.UID) | Its unique id.
  5 apiVersion:string | Its group and version.
  6 resourceVersion:string | The version of the object that was seen.
  7 fieldPath:string | A field within the object.

LocalObjectReference atomic | Points at an object of the same namespace by its name.
  1 name:string | Its name.

SecretReference atomic | Points at a Secret in any namespace.
  1 name:string | Its name.
  2 namespace:string | Its namespace.

TypedLocalObjectReference atomic | Points at an object of a given kind in the same namespace.
  1* apiGroup:string! required | Its API group; empty for the core group.
  2 kind:string! required | Its kind.
  3 name:string! required | Its name.

TypedObjectReference | Points at an object of a given kind, in another namespace too.
  1* apiGroup:string! required | Its API group; empty for the core group.
  2 kind:string! required | Its kind.
  3 name:string! required | Its name.
  4* namespace:string | Its namespace.
`

/** Types of events; parse.ts describes the format. */
export const EVENT = `
Event object | Something that happened to an object; kept for a short while.
  1 metadata:meta.ObjectMeta! required | Name, labels and other metadata.
  2 involvedObject:ObjectReference! required | What the event is about.
  3 reason:string | One word for what happened.
  4 message:string | A sentence about what happened.
  5 source:EventSource! | Who saw it.
  6 firstTimestamp:Time! | When it was first seen.
  7 lastTimestamp:Time! | When it was last seen.
  8 count:int32 | How often it was seen.
  9 type:string | Normal or Warning.
  10 eventTime:MicroTime! | When it was first seen, to the microsecond.
  11* series:EventSeries | How often it came again.
  12 action:string | What was done.
  13* related:ObjectReference | A further object that the event is about.
  14 reportingComponent:string! | The controller that tells it.
  15 reportingInstance:string! | Which instance of the controller tells it.

EventSource | Who saw an event.
  1 component:string | The program's name.
  2 host:string | The node's name.

EventSeries | How often an event came again.
  1 count:int32 | How often it came so far.
  2 lastObservedTime:MicroTime! | When it came last.
`
