/** Types of namespaces, configuration, service accounts and references; parse.ts tells how a table is read. */
export const CORE = `
Namespace object | Namespace.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:NamespaceSpec! | Spec.
  3 status:NamespaceStatus! | Status.

NamespaceSpec | Namespace spec.
  1 finalizers:[]string(FinalizerName) | Finalizers.

NamespaceStatus | Namespace status.
  1 phase:string(NamespacePhase) | Phase.
  2 conditions:[]NamespaceCondition merge(type) | Conditions.

NamespaceCondition | Namespace condition.
  1 type:string(NamespaceConditionType)! required | Type.
  2 status:string(ConditionStatus)! required | Status.
  4 lastTransitionTime:Time! | Last transition time.
  5 reason:string | Reason.
  6 message:string | Message.

Secret object | Secret.
  1 metadata:meta.ObjectMeta! | Metadata.
  5* immutable:bool | Immutable.
  2 data:map<bytes> | Data.
  4 stringData:map<string> | String data.
  3 type:string(SecretType) | Type.

ConfigMap object | Config map.
  1 metadata:meta.ObjectMeta! | Metadata.
  4* immutable:bool | Immutable.
  2 data:map<string> | Data.
  3 binaryData:map<bytes> | Binary data.

ServiceAccount object | Service account.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 secrets:[]ObjectReference merge(name) | Secrets.
  3 imagePullSecrets:[]LocalObjectReference | Image pull secrets.
  4* automountServiceAccountToken:bool | Automount service account token.

Binding object | Binding.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 target:ObjectReference! required | Target.

ObjectReference atomic | Object reference.
  1 kind:string | Kind.
  2 namespace:string | Namespace.
  3 name:string | Name.
  4 uid:string(types.UID) | Uid.
  5 apiVersion:string | Api version.
  6 resourceVersion:string | Resource version.
  7 fieldPath:string | Field path.

LocalObjectReference atomic | Local object reference.
  1 name:string | Name.

SecretReference atomic | Secret reference.
  1 name:string | Name.
  2 namespace:string | Namespace.

TypedLocalObjectReference atomic | Typed local object reference.
  1* apiGroup:string! required | Api group.
  2 kind:string! required | Kind.
  3 name:string! required | Name.

TypedObjectReference | Typed object reference.
  1* apiGroup:string! required | Api group.
  2 kind:string! required | Kind.
  3 name:string! required | Name.
  4* namespace:string | Namespace.
`
