/** Types of volumes of pods that other systems provide; parse.ts describes the format. */
export const VOLUME_SOURCE = `
AWSElasticBlockStoreVolumeSource | A disk of AWS.
  1 volumeID:string! required | The volume's id at its provider.
  2 fsType:string | The file system to mount, such as ext4.
  3 partition:int32 | The partition to mount, where it is not the whole disk.
  4 readOnly:bool | Whether nothing can be written.

AzureDiskVolumeSource | A disk of Azure.
  1 diskName:string! required | The disk's name.
  2 diskURI:string! required | The disk's address.
  3* cachingMode:string(AzureDataDiskCachingMode) | None, ReadOnly or ReadWrite.
  4* fsType:string | The file system to mount, such as ext4.
  5* readOnly:bool | Whether nothing can be written.
  6* kind:string(AzureDataDiskKind) | Shared, Dedicated or Managed.

AzureFilePersistentVolumeSource | A file share of Azure, for persistent volumes.
  1 secretName:string! required | The Secret with what is needed to log in.
  2 shareName:string! required | The share's name.
  3 readOnly:bool | Whether nothing can be written.
  4* secretNamespace:string! required | The Secret's namespace.

AzureFileVolumeSource | A file share of Azure.
  1 secretName:string! required | The Secret with what is needed to log in.
  2 shareName:string! required | The share's name.
  3 readOnly:bool | Whether nothing can be written.

CSIPersistentVolumeSource | A volume that a CSI driver looks after.
  1 driver:string! required | The driver's name.
  2 volumeHandle:string! required | The volume's id at its driver.
  3 readOnly:bool | Whether nothing can be written.
  4 fsType:string | The file system to mount, such as ext4.
  5 volumeAttributes:map<string> | Settings for the driver, in its own words.
  6* controllerPublishSecretRef:SecretReference | The Secret for attaching and detaching.
  7* nodeStageSecretRef:SecretReference | The Secret for preparing the volume on the node.
  8* nodePublishSecretRef:SecretReference | The Secret that the driver needs on the node.
  9* controllerExpandSecretRef:SecretReference | The Secret for growing the volume.
  10* nodeExpandSecretRef:SecretReference | The Secret for growing the volume on the node.

CephFSPersistentVolumeSource | A folder of a Ceph file system, for persistent volumes.
  1 monitors:[]string! required | Addresses of the Ceph monitors.
  2 path:string | The folder to mount.
  3 user:string | The user to log in as.
  4 secretFile:string | The file with the user's key.
  5* secretRef:SecretReference | The Secret with what is needed to log in.
  6 readOnly:bool | Whether nothing can be written.

CephFSVolumeSource | A folder of a Ceph file system.
  1 monitors:[]string! required | Addresses of the Ceph monitors.
  2 path:string | The folder to mount.
  3 user:string | The user to log in as.
  4 secretFile:string | The file with the user's key.
  5* secretRef:LocalObjectReference | The Secret with what is needed to log in.
  6 readOnly:bool | Whether nothing can be written.

CinderPersistentVolumeSource | A disk of OpenStack, for persistent volumes.
  1 volumeID:string! required | The volume's id at its provider.
  2 fsType:string | The file system to mount, such as ext4.
  3 readOnly:bool | Whether nothing can be written.
  4* secretRef:SecretReference | The Secret with what is needed to log in.

CinderVolumeSource | A disk of OpenStack.
  1 volumeID:string! required | The volume's id at its provider.
  2 fsType:string | The file system to mount, such as ext4.
  3 readOnly:bool | Whether nothing can be written.
  4* secretRef:LocalObjectReference | The Secret with what is needed to log in.

FCVolumeSource | A disk behind Fibre Channel.
  1 targetWWNs:[]string | World-wide names of the targets.
  2* lun:int32 | The disk's number at the target.
  3 fsType:string | The file system to mount, such as ext4.
  4 readOnly:bool | Whether nothing can be written.
  5 wwids:[]string | World-wide ids of the volume.

FlexPersistentVolumeSource | A volume of a driver program on the node, for persistent volumes.
  1 driver:string! required | The driver's name.
  2 fsType:string | The file system to mount, such as ext4.
  3* secretRef:SecretReference | The Secret with what is needed to log in.
  4 readOnly:bool | Whether nothing can be written.
  5 options:map<string> | Settings for the driver.

FlexVolumeSource | A volume of a driver program on the node.
  1 driver:string! required | The driver's name.
  2 fsType:string | The file system to mount, such as ext4.
  3* secretRef:LocalObjectReference | The Secret with what is needed to log in.
  4 readOnly:bool | Whether nothing can be written.
  5 options:map<string> | Settings for the driver.

FlockerVolumeSource | A dataset of Flocker.
  1 datasetName:string | The dataset's name.
  2 datasetUUID:string | The dataset's id.

GCEPersistentDiskVolumeSource | A disk of Google Cloud.
  1 pdName:string! required | The disk's name.
  2 fsType:string | The file system to mount, such as ext4.
  3 partition:int32 | The partition to mount, where it is not the whole disk.
  4 readOnly:bool | Whether nothing can be written.

GitRepoVolumeSource | A checkout of a git repository; outdated and unsafe.
  1 repository:string! required | The repository's address.
  2 revision:string | The commit.
  3 directory:string | The folder for the files.

GlusterfsPersistentVolumeSource | A volume of Gluster, for persistent volumes.
  1 endpoints:string! required | The Endpoints object with the servers' addresses.
  2 path:string! required | The Gluster volume.
  3 readOnly:bool | Whether nothing can be written.
  4* endpointsNamespace:string | The namespace of the Endpoints object.

GlusterfsVolumeSource | A volume of Gluster.
  1 endpoints:string! required | The Endpoints object with the servers' addresses.
  2 path:string! required | The Gluster volume.
  3 readOnly:bool | Whether nothing can be written.

ISCSIPersistentVolumeSource | A disk behind iSCSI, for persistent volumes.
  1 targetPortal:string! required | The target's address.
  2 iqn:string! required | The target's name.
  3 lun:int32! required | The disk's number at the target.
  4 iscsiInterface:string | The interface to use.
  5 fsType:string | The file system to mount, such as ext4.
  6 readOnly:bool | Whether nothing can be written.
  7 portals:[]string | Further addresses of the target.
  8 chapAuthDiscovery:bool | Whether CHAP protects discovery.
  11 chapAuthSession:bool | Whether CHAP protects the session.
  10* secretRef:SecretReference | The Secret with what is needed to log in.
  12* initiatorName:string | The initiator's name.

ISCSIVolumeSource | A disk behind iSCSI.
  1 targetPortal:string! required | The target's address.
  2 iqn:string! required | The target's name.
  3 lun:int32! required | The disk's number at the target.
  4 iscsiInterface:string | The interface to use.
  5 fsType:string | The file system to mount, such as ext4.
  6 readOnly:bool | Whether nothing can be written.
  7 portals:[]string | Further addresses of the target.
  8 chapAuthDiscovery:bool | Whether CHAP protects discovery.
  11 chapAuthSession:bool | Whether CHAP protects the session.
  10* secretRef:LocalObjectReference | The Secret with what is needed to log in.
  12* initiatorName:string | The initiator's name.

LocalVolumeSource | A disk or folder of one node.
  1 path:string! required | The path on the node.
  2* fsType:string | The file system to mount, such as ext4.

NFSVolumeSource | A folder of an NFS server.
  1 server:string! required | The server's name or address.
  2 path:string! required | The exported path.
  3 readOnly:bool | Whether nothing can be written.

PhotonPersistentDiskVolumeSource | A disk of Photon.
  1 pdID:string! required | The disk's id.
  2 fsType:string | The file system to mount, such as ext4.

PortworxVolumeSource | A volume of Portworx.
  1 volumeID:string! required | The volume's id at its provider.
  2 fsType:string | The file system to mount, such as ext4.
  3 readOnly:bool | Whether nothing can be written.

QuobyteVolumeSource | A volume of Quobyte.
  1 registry:string! required | Addresses of the registry.
  2 volume:string! required | The volume's name.
  3 readOnly:bool | Whether nothing can be written.
  4 user:string | The user that the files belong to.
  5 group:string | The group that the files belong to.
  6 tenant:string | Who the volume belongs to.

RBDPersistentVolumeSource | A block device of Ceph, for persistent volumes.
  1 monitors:[]string! required | Addresses of the Ceph monitors.
  2 image:string! required | The image's name.
  3 fsType:string | The file system to mount, such as ext4.
  4 pool:string | The pool's name.
  5 user:string | The user to log in as.
  6 keyring:string | The file with the user's key.
  7* secretRef:SecretReference | The Secret with what is needed to log in.
  8 readOnly:bool | Whether nothing can be written.

RBDVolumeSource | A block device of Ceph.
  1 monitors:[]string! required | Addresses of the Ceph monitors.
  2 image:string! required | The image's name.
  3 fsType:string | The file system to mount, such as ext4.
  4 pool:string | The pool's name.
  5 user:string | The user to log in as.
  6 keyring:string | The file with the user's key.
  7* secretRef:LocalObjectReference | The Secret with what is needed to log in.
  8 readOnly:bool | Whether nothing can be written.

ScaleIOPersistentVolumeSource | A volume of ScaleIO, for persistent volumes.
  1 gateway:string! required | The gateway's address.
  2 system:string! required | The storage system's name.
  3* secretRef:SecretReference! required | The Secret with what is needed to log in.
  4 sslEnabled:bool | Whether to use TLS.
  5 protectionDomain:string | The protection domain's name.
  6 storagePool:string | The storage pool's name.
  7 storageMode:string | Thick or thin.
  8 volumeName:string | The volume's name.
  9 fsType:string | The file system to mount, such as ext4.
  10 readOnly:bool | Whether nothing can be written.

ScaleIOVolumeSource | A volume of ScaleIO.
  1 gateway:string! required | The gateway's address.
  2 system:string! required | The storage system's name.
  3* secretRef:LocalObjectReference! required | The Secret with what is needed to log in.
  4 sslEnabled:bool | Whether to use TLS.
  5 protectionDomain:string | The protection domain's name.
  6 storagePool:string | The storage pool's name.
  7 storageMode:string | Thick or thin.
  8 volumeName:string | The volume's name.
  9 fsType:string | The file system to mount, such as ext4.
  10 readOnly:bool | Whether nothing can be written.

StorageOSPersistentVolumeSource | A volume of StorageOS, for persistent volumes.
  1 volumeName:string | The volume's name.
  2 volumeNamespace:string | Where the provider looks for the volume's name.
  3 fsType:string | The file system to mount, such as ext4.
  4 readOnly:bool | Whether nothing can be written.
  5* secretRef:ObjectReference | The Secret with what is needed to log in.

StorageOSVolumeSource | A volume of StorageOS.
  1 volumeName:string | The volume's name.
  2 volumeNamespace:string | Where the provider looks for the volume's name.
  3 fsType:string | The file system to mount, such as ext4.
  4 readOnly:bool | Whether nothing can be written.
  5* secretRef:LocalObjectReference | The Secret with what is needed to log in.

VsphereVirtualDiskVolumeSource | A disk of vSphere.
  1 volumePath:string! required | The path of the disk.
  2 fsType:string | The file system to mount, such as ext4.
  3 storagePolicyName:string | The storage policy's name.
  4 storagePolicyID:string | The storage policy's id.
`
