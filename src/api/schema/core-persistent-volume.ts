/** Types of persistent volumes and claims; parse.ts tells how a table is read. */
export const PERSISTENT_VOLUME = `
PersistentVolume object | Persistent volume.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:PersistentVolumeSpec! | Spec.
  3 status:PersistentVolumeStatus! | Status.

PersistentVolumeSpec | Persistent volume spec.
  1 capacity:map<Quantity> | Capacity.
  2 (inline):PersistentVolumeSource | Stands in the parent.
  3 accessModes:[]string(PersistentVolumeAccessMode) | Access modes.
  4* claimRef:ObjectReference granular | Claim ref.
  5 persistentVolumeReclaimPolicy:string(PersistentVolumeReclaimPolicy) | Persistent volume reclaim policy.
  6 storageClassName:string | Storage class name.
  7 mountOptions:[]string | Mount options.
  8* volumeMode:string(PersistentVolumeMode) | Volume mode.
  9* nodeAffinity:VolumeNodeAffinity | Node affinity.
  10* volumeAttributesClassName:string | Volume attributes class name.

PersistentVolumeSource | Persistent volume source.
  1* gcePersistentDisk:GCEPersistentDiskVolumeSource | Gce persistent disk.
  2* awsElasticBlockStore:AWSElasticBlockStoreVolumeSource | Aws elastic block store.
  3* hostPath:HostPathVolumeSource | Host path.
  4* glusterfs:GlusterfsPersistentVolumeSource | Glusterfs.
  5* nfs:NFSVolumeSource | Nfs.
  6* rbd:RBDPersistentVolumeSource | Rbd.
  7* iscsi:ISCSIPersistentVolumeSource | Iscsi.
  8* cinder:CinderPersistentVolumeSource | Cinder.
  9* cephfs:CephFSPersistentVolumeSource | Cephfs.
  10* fc:FCVolumeSource | Fc.
  11* flocker:FlockerVolumeSource | Flocker.
  12* flexVolume:FlexPersistentVolumeSource | Flex volume.
  13* azureFile:AzureFilePersistentVolumeSource | Azure file.
  14* vsphereVolume:VsphereVirtualDiskVolumeSource | Vsphere volume.
  15* quobyte:QuobyteVolumeSource | Quobyte.
  16* azureDisk:AzureDiskVolumeSource | Azure disk.
  17* photonPersistentDisk:PhotonPersistentDiskVolumeSource | Photon persistent disk.
  18* portworxVolume:PortworxVolumeSource | Portworx volume.
  19* scaleIO:ScaleIOPersistentVolumeSource | Scale io.
  20* local:LocalVolumeSource | Local.
  21* storageos:StorageOSPersistentVolumeSource | Storageos.
  22* csi:CSIPersistentVolumeSource | Csi.

PersistentVolumeStatus | Persistent volume status.
  1 phase:string(PersistentVolumePhase) | Phase.
  2 message:string | Message.
  3 reason:string | Reason.
  4* lastPhaseTransitionTime:Time | Last phase transition time.

VolumeNodeAffinity | Volume node affinity.
  1* required:NodeSelector | Required.

PersistentVolumeClaim object | Persistent volume claim.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:PersistentVolumeClaimSpec! | Spec.
  3 status:PersistentVolumeClaimStatus! | Status.

PersistentVolumeClaimSpec | Persistent volume claim spec.
  1 accessModes:[]string(PersistentVolumeAccessMode) | Access modes.
  4* selector:meta.LabelSelector | Selector.
  2 resources:VolumeResourceRequirements! | Resources.
  3 volumeName:string | Volume name.
  5* storageClassName:string | Storage class name.
  6* volumeMode:string(PersistentVolumeMode) | Volume mode.
  7* dataSource:TypedLocalObjectReference | Data source.
  8* dataSourceRef:TypedObjectReference | Data source ref.
  9* volumeAttributesClassName:string | Volume attributes class name.

VolumeResourceRequirements | Volume resource requirements.
  1 limits:map<Quantity> | Limits.
  2 requests:map<Quantity> | Requests.

PersistentVolumeClaimStatus | Persistent volume claim status.
  1 phase:string(PersistentVolumeClaimPhase) | Phase.
  2 accessModes:[]string(PersistentVolumeAccessMode) | Access modes.
  3 capacity:map<Quantity> | Capacity.
  4 conditions:[]PersistentVolumeClaimCondition merge(type) | Conditions.
  5 allocatedResources:map<Quantity> | Allocated resources.
  7 allocatedResourceStatuses:map<string(ClaimResourceStatus)> | Allocated resource statuses.
  8* currentVolumeAttributesClassName:string | Current volume attributes class name.
  9* modifyVolumeStatus:ModifyVolumeStatus | Modify volume status.

PersistentVolumeClaimCondition | Persistent volume claim condition.
  1 type:string(PersistentVolumeClaimConditionType)! required | Type.
  2 status:string(ConditionStatus)! required | Status.
  3 lastProbeTime:Time! | Last probe time.
  4 lastTransitionTime:Time! | Last transition time.
  5 reason:string | Reason.
  6 message:string | Message.

ModifyVolumeStatus | Modify volume status.
  1 targetVolumeAttributesClassName:string | Target volume attributes class name.
  2 status:string(PersistentVolumeClaimModifyVolumeStatus)! required | Status.

PersistentVolumeClaimTemplate | Persistent volume claim template.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:PersistentVolumeClaimSpec! required | Spec.
`
