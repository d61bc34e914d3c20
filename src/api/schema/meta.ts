/** Types of metadata, options and Status; parse.ts describes the format. */
export const META = `
ObjectMeta | What every object carries: its name, labels and bookkeeping.
  1 name:string | The object's name, unique among its kind in its namespace.
  2 generateName:string | A prefix to make a name from, where there is none.
  3 namespace:string | The namespace of the object; it never changes.
  4 selfLink:string | No longer used.
  5 uid:string(types.UID) | The object's id, unlike that of any object before or after.
  6 resourceVersion:string | The version of the object; sent back, it guards against lost updates.
  7 generation:int64 | Counts the changes of what is wanted.
  8 creationTimestamp:Time | When it was created.
  9* deletionTimestamp:Time | When it is to be gone; set by a deletion that has to wait.
  10* deletionGracePeriodSeconds:int64 | How long the deletion waits.
  11 labels:map<string> | Names and values to select objects by.
  12 annotations:map<string> | Names and values for programs to keep notes in.
  13 ownerReferences:[]OwnerReference merge(uid) | Objects that this one belongs to.
  14 finalizers:[]string merge | Who must have cleaned up before the object goes away.
  17 managedFields:[]ManagedFieldsEntry | Who has set which fields.

OwnerReference atomic | The object that this one belongs to, and is deleted with.
  5 apiVersion:string! required | Its group and version.
  1 kind:string! required | Its kind.
  3 name:string! required | Its name.
  4 uid:string(types.UID)! required | Its unique id.
  6* controller:bool | Whether this owner manages the object.
  7* blockOwnerDeletion:bool | Whether the owner waits for this object to be deleted.

ManagedFieldsEntry | The fields that one manager has set.
  1 manager:string | The manager's name.
  2 operation:string(ManagedFieldsOperationType) | Apply or Update.
  3 apiVersion:string | The version that the fields are named in.
  4* time:Time | When the fields were last changed.
  6 fieldsType:string | FieldsV1.
  7* fieldsV1:FieldsV1 | The fields.
  8 subresource:string | The subresource by which they were set.

LabelSelector atomic | Chooses objects by their labels; all requirements must be met.
  1 matchLabels:map<string> | Labels and the values they must have.
  2 matchExpressions:[]LabelSelectorRequirement | Further requirements.

LabelSelectorRequirement | A requirement on one label.
  1 key:string! required | The label's name.
  2 operator:string(LabelSelectorOperator)! required | In, NotIn, Exists or DoesNotExist.
  3 values:[]string | The values to compare with.

Condition | An observation about an object.
  1 type:string! required | What is observed.
  2 status:string(ConditionStatus)! required | What is observed.
  3 observedGeneration:int64 | The generation that this was observed at.
  4 lastTransitionTime:Time! required | When the status last changed.
  5 reason:string! required | One word for why.
  6 message:string! required | A sentence that says more.

FieldSelectorRequirement | A requirement on one field.
  1 key:string! required | The field's path.
  2 operator:string(FieldSelectorOperator)! required | How the values are compared.
  3 values:[]string | The values to compare with.

DeleteOptions object | How to delete.
  1* gracePeriodSeconds:int64 | How long the object has to end by itself.
  2* preconditions:Preconditions | What must be true of the object.
  3* orphanDependents:bool | Outdated: use propagationPolicy.
  4* propagationPolicy:string(DeletionPropagation) | What becomes of objects that belong to it: Orphan, Background or Foreground.
  5 dryRun:[]string | All: do everything but store the result.
  6* ignoreStoreReadErrorWithClusterBreakingPotential:bool | Deletes what cannot be read any more, at one's own risk.

Preconditions | What must be true of an object for it to be deleted.
  1* uid:string(types.UID) | The id that the object must have.
  2* resourceVersion:string | The version that the object must have.

Status object | How a request went.
  1 metadata:ListMeta! | Name, labels and other metadata.
  2 status:string | Success or Failure.
  3 message:string | A sentence that says more.
  4 reason:string(StatusReason) | One word for why it failed.
  5* details:StatusDetails | What it is about.
  6 code:int32 | The HTTP status code.

ListMeta | What every list carries.
  1 selfLink:string | No longer used.
  2 resourceVersion:string | The version that the list was read at.
  3 continue:string | Asks for the next part of the list.
  4* remainingItemCount:int64 | How many are still to come.
  5* shardInfo:ShardInfo | Which part of a list this is.

ShardInfo | Which part of a list this is.
  1 selector:string! required | What chooses the part.

StatusDetails | What a status is about.
  1 name:string | The object's name.
  2 group:string | The API group.
  3 kind:string | The kind or the resource.
  6 uid:string(types.UID) | Its unique id.
  4 causes:[]StatusCause | All that was wrong.
  5 retryAfterSeconds:int32 | When to try again.

StatusCause | One of several reasons for a failure.
  1 reason:string(CauseType) | One word for why.
  2 message:string | A sentence that says more.
  3 field:string | The field that it is about.

CreateOptions object | How to create.
  1 dryRun:[]string | All: do everything but store the result.
  3 fieldManager:string | Who is said to have set the fields.
  4 fieldValidation:string | What to do about unknown and repeated fields: Ignore, Warn or Strict.

PatchOptions object | How to patch.
  1 dryRun:[]string | All: do everything but store the result.
  2* force:bool | Whether to take over fields of other managers.
  3 fieldManager:string | Who is said to have set the fields.
  4 fieldValidation:string | What to do about unknown and repeated fields: Ignore, Warn or Strict.

UpdateOptions object | How to update.
  1 dryRun:[]string | All: do everything but store the result.
  2 fieldManager:string | Who is said to have set the fields.
  3 fieldValidation:string | What to do about unknown and repeated fields: Ignore, Warn or Strict.
`
