/** Types of persistent volumes and claims; parse.ts describes the format. */
export const PERSISTENT_VOLUME = `
PersistentVolume object | A piece of storage that outlives the pods that use it.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:PersistentVolumeSpec! | What is wanted.
  3 status:PersistentVolumeStatus! | What is observed.

PersistentVolumeSpec | What a persistent volume is.
  1 capacity:map<Quantity> | How much there is.
  2 (inline):PersistentVolumeSource | Where the storage is.
  3 accessModes:[]string(PersistentVolumeAccessMode) | How it can be mounted, such as ReadWriteOnce.
  4* claimRef:ObjectReference granular | The claim that has got this volume.
  5 persistentVolumeReclaimPolicy:string(PersistentVolumeReclaimPolicy) | What becomes of it after its claim: Retain, Delete or Recycle.
  6 storageClassName:string | The storage class that it is of.
  7 mountOptions:[]string | Options for mounting.
  8* volumeMode:string(PersistentVolumeMode) | Filesystem or Block.
  9* nodeAffinity:VolumeNodeAffinity | The nodes from which it can be reached.
  10* volumeAttributesClassName:string | The class of attributes that the driver gives the volume.

PersistentVolumeSource | Where the storage is: exactly one of these.
  1* gcePersistentDisk:GCEPersistentDiskVolumeSource | A disk of Google Cloud.
  2* awsElasticBlockStore:AWSElasticBlockStoreVolumeSource | A disk of AWS.
  3* hostPath:HostPathVolumeSource | A file or folder of the node.
  4* glusterfs:GlusterfsPersistentVolumeSource | A volume of Gluster.
  5* nfs:NFSVolumeSource | A folder of an NFS server.
  6* rbd:RBDPersistentVolumeSource | A block device of Ceph.
  7* iscsi:ISCSIPersistentVolumeSource | A disk behind iSCSI.
  8* cinder:CinderPersistentVolumeSource | A disk of OpenStack.
  9* cephfs:CephFSPersistentVolumeSource | A folder of a Ceph file system.
  10* fc:FCVolumeSource | A disk behind Fibre Channel.
  11* flocker:FlockerVolumeSource | A dataset of Flocker.
  12* flexVolume:FlexPersistentVolumeSource | A volume of a driver program on the node.
  13* azureFile:AzureFilePersistentVolumeSource | A file share of Azure.
  14* vsphereVolume:VsphereVirtualDiskVolumeSource | A disk of vSphere.
  15* quobyte:QuobyteVolumeSource | A volume of Quobyte.
  16* azureDisk:AzureDiskVolumeSource | A disk of Azure.
  17* photonPersistentDisk:PhotonPersistentDiskVolumeSource | A disk of Photon.
  18* portworxVolume:PortworxVolumeSource | A volume of Portworx.
  19* scaleIO:ScaleIOPersistentVolumeSource | A volume of ScaleIO.
  20* local:LocalVolumeSource | A disk or folder of one node.
  21* storageos:StorageOSPersistentVolumeSource | A volume of StorageOS.
  22* csi:CSIPersistentVolumeSource | A volume of a CSI driver.

PersistentVolumeStatus | How far a persistent volume is in its life.
  1 phase:string(PersistentVolumePhase) | Pending, Available, Bound, Released or Failed.
  2 message:string | A sentence that says more.
  3 reason:string | One word for why.
  4* lastPhaseTransitionTime:Time | When the phase last changed.

VolumeNodeAffinity | The nodes from which a volume can be reached.
  1* required:NodeSelector | What a node must meet.

PersistentVolumeClaim object | A user's wish for storage.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:PersistentVolumeClaimSpec! | What is wanted.
  3 status:PersistentVolumeClaimStatus! | What is observed.

PersistentVolumeClaimSpec | What storage is wished for.
  1 accessModes:[]string(PersistentVolumeAccessMode) | How it can be mounted, such as ReadWriteOnce.
  4* selector:meta.LabelSelector | Which volumes fit, by their labels.
  2 resources:VolumeResourceRequirements! | How much is needed.
  3 volumeName:string | The volume that was got.
  5* storageClassName:string | The storage class that it is of.
  6* volumeMode:string(PersistentVolumeMode) | Filesystem or Block.
  7* dataSource:TypedLocalObjectReference | What to fill the volume with.
  8* dataSourceRef:TypedObjectReference | What to fill the volume with, of any kind.
  9* volumeAttributesClassName:string | The class of attributes that the driver gives the volume.

VolumeResourceRequirements | How much storage is wished for.
  1 limits:map<Quantity> | The most that may be used.
  2 requests:map<Quantity> | The least that is needed.

PersistentVolumeClaimStatus | What a claim has got.
  1 phase:string(PersistentVolumeClaimPhase) | Pending, Bound or Lost.
  2 accessModes:[]string(PersistentVolumeAccessMode) | How it can be mounted, such as ReadWriteOnce.
  3 capacity:map<Quantity> | How much was got.
  4 conditions:[]PersistentVolumeClaimCondition merge(type) | Observations, one of each type.
  5 allocatedResources:map<Quantity> | What has been set aside.
  7 allocatedResourceStatuses:map<string(ClaimResourceStatus)> | How far a change of size is.
  8* currentVolumeAttributesClassName:string | The class of attributes that the volume has now.
  9* modifyVolumeStatus:ModifyVolumeStatus | How far a change of attributes is.

PersistentVolumeClaimCondition | An observation about a claim.
  1 type:string(PersistentVolumeClaimConditionType)! required | What is observed, such as Resizing.
  2 status:string(ConditionStatus)! required | What is observed.
  3 lastProbeTime:Time! | When it was last checked.
  4 lastTransitionTime:Time! | When the status last changed.
  5 reason:string | One word for why.
  6 message:string | A sentence that says more.

ModifyVolumeStatus | How far a change of a volume's attributes is.
  1 targetVolumeAttributesClassName:string | The class that is being changed to.
  2 status:string(PersistentVolumeClaimModifyVolumeStatus)! required | Pending, InProgress or Infeasible.

PersistentVolumeClaimTemplate | A pattern to make a claim from.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:PersistentVolumeClaimSpec! required | What is wanted.
`
