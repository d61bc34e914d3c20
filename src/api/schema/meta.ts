/** Types of metadata, options and status answers; parse.ts tells how a table is read. */
export const META = `
ObjectMeta | Object meta.
  1 name:string | Name.
  2 generateName:string | Generate name.
  3 namespace:string | Namespace.
  4 selfLink:string | Self link.
  5 uid:string(types.UID) | Uid.
  6 resourceVersion:string | Resource version.
  7 generation:int64 | Generation.
  8 creationTimestamp:Time | Creation timestamp.
  9* deletionTimestamp:Time | Deletion timestamp.
  10* deletionGracePeriodSeconds:int64 | Deletion grace period seconds.
  11 labels:map<string> | Labels.
  12 annotations:map<string> | Annotations.
  13 ownerReferences:[]OwnerReference merge(uid) | Owner references.
  14 finalizers:[]string merge | Finalizers.
  17 managedFields:[]ManagedFieldsEntry | Managed fields.

OwnerReference atomic | Owner reference.
  5 apiVersion:string! required | Api version.
  1 kind:string! required | Kind.
  3 name:string! required | Name.
  4 uid:string(types.UID)! required | Uid.
  6* controller:bool | Controller.
  7* blockOwnerDeletion:bool | Block owner deletion.

ManagedFieldsEntry | Managed fields entry.
  1 manager:string | Manager.
  2 operation:string(ManagedFieldsOperationType) | Operation.
  3 apiVersion:string | Api version.
  4* time:Time | Time.
  6 fieldsType:string | Fields type.
  7* fieldsV1:FieldsV1 | Fields v1.
  8 subresource:string | Subresource.

LabelSelector atomic | Label selector.
  1 matchLabels:map<string> | Match labels.
  2 matchExpressions:[]LabelSelectorRequirement | Match expressions.

LabelSelectorRequirement | Label selector requirement.
  1 key:string! required | Key.
  2 operator:string(LabelSelectorOperator)! required | Operator.
  3 values:[]string | Values.

Condition | Condition.
  1 type:string! required | Type.
  2 status:string(ConditionStatus)! required | Status.
  3 observedGeneration:int64 | Observed generation.
  4 lastTransitionTime:Time! required | Last transition time.
  5 reason:string! required | Reason.
  6 message:string! required | Message.

FieldSelectorRequirement | Field selector requirement.
  1 key:string! required | Key.
  2 operator:string(FieldSelectorOperator)! required | Operator.
  3 values:[]string | Values.

DeleteOptions object | Delete options.
  1* gracePeriodSeconds:int64 | Grace period seconds.
  2* preconditions:Preconditions | Preconditions.
  3* orphanDependents:bool | Orphan dependents.
  4* propagationPolicy:string(DeletionPropagation) | Propagation policy.
  5 dryRun:[]string | Dry run.
  6* ignoreStoreReadErrorWithClusterBreakingPotential:bool | Ignore store read error with cluster breaking potential.

Preconditions | Preconditions.
  1* uid:string(types.UID) | Uid.
  2* resourceVersion:string | Resource version.

Status object | Status.
  1 metadata:ListMeta! | Metadata.
  2 status:string | Status.
  3 message:string | Message.
  4 reason:string(StatusReason) | Reason.
  5* details:StatusDetails | Details.
  6 code:int32 | Code.

ListMeta | List meta.
  1 selfLink:string | Self link.
  2 resourceVersion:string | Resource version.
  3 continue:string | Continue.
  4* remainingItemCount:int64 | Remaining item count.
  5* shardInfo:ShardInfo | Shard info.

ShardInfo | Shard info.
  1 selector:string! required | Selector.

StatusDetails | Status details.
  1 name:string | Name.
  2 group:string | Group.
  3 kind:string | Kind.
  6 uid:string(types.UID) | Uid.
  4 causes:[]StatusCause | Causes.
  5 retryAfterSeconds:int32 | Retry after seconds.

StatusCause | Status cause.
  1 reason:string(CauseType) | Reason.
  2 message:string | Message.
  3 field:string | Field.

CreateOptions object | Create options.
  1 dryRun:[]string | Dry run.
  3 fieldManager:string | Field manager.
  4 fieldValidation:string | Field validation.

PatchOptions object | Patch options.
  1 dryRun:[]string | Dry run.
  2* force:bool | Force.
  3 fieldManager:string | Field manager.
  4 fieldValidation:string | Field validation.

UpdateOptions object | Update options.
  1 dryRun:[]string | Dry run.
  2 fieldManager:string | Field manager.
  3 fieldValidation:string | Field validation.
`
