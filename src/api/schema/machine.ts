/** Types of the machine inventory, a custom resource; parse.ts describes the format. */
export const MACHINE = `
Machine object | A machine that may become a node; the machine approver decides certificate requests by it.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:MachineSpec | What the machine should be.
  3 status:MachineStatus | What is known of the machine.

MachineSpec | What a machine should be.
  1 metadata:MachineObjectMeta | Labels and annotations for the node that the machine becomes.
  2 lifecycleHooks:LifecycleHooks | Work to wait for before the machine goes away.
  3 taints:[]core.Taint | Taints for the node that the machine becomes.
  4 providerSpec:ProviderSpec | What the provider needs to know to create the machine.
  5* providerID:string | The machine's id at its provider, as the node carries it.
  6 authoritativeAPI:string | Which API decides about this machine where several know it.

MachineObjectMeta | The metadata that a node takes over from its machine.
  1 name:string | A name for the node.
  2 generateName:string | A prefix to make a name from.
  3 namespace:string | Not used: nodes have no namespace.
  4 labels:map<string> | Labels of the node.
  5 annotations:map<string> | Annotations of the node.
  6 ownerReferences:[]meta.OwnerReference merge(uid) | Objects that the node belongs to.

LifecycleHooks | Work to wait for before a machine goes away.
  1 preDrain:[]LifecycleHook keys(name) | Awaited before the node is drained.
  2 preTerminate:[]LifecycleHook keys(name) | Awaited before the machine is destroyed.

LifecycleHook | One piece of work to wait for.
  1 name:string! required | A name that says what is waited for.
  2 owner:string! required | Who removes the hook once the work is done.

ProviderSpec | Settings of the provider.
  1* value:RawExtension | The provider's own object, kept as it is.

MachineStatus | What is known of a machine.
  1* nodeRef:core.ObjectReference | The node that the machine became.
  2* lastUpdated:Time | When this status last changed.
  3* errorReason:string | A word for what went wrong for good.
  4* errorMessage:string | A sentence about what went wrong for good.
  5* providerStatus:RawExtension | The provider's own status, kept as it is.
  6 addresses:[]core.NodeAddress | Names and addresses that certificate requests of the machine may ask for.
  7* lastOperation:LastOperation | What was last done to the machine.
  8* phase:string | Where the machine is in its life, such as Provisioned or Running.
  9 conditions:[]Condition keys(type) | Observations of the machine.
  10 authoritativeAPI:string | Which API decided about this machine when the status was written.
  11 synchronizedGeneration:int64 | The generation that was last synchronized between APIs.

LastOperation | What was last done to a machine.
  1* description:string | What was done.
  2* lastUpdated:Time | When that changed.
  3* state:string | How far it got.
  4* type:string | What kind of operation it was.

Condition | An observation of a machine.
  1 type:string! required | What is observed.
  2 status:string! required | True, False or Unknown.
  3 severity:string | How bad it is where the status is False.
  4 lastTransitionTime:Time! required | When the status last changed.
  5 reason:string | A word for why.
  6 message:string | A sentence about why.
`
