/** Types of volumes of pods that other systems provide; parse.ts tells how a table is read. */
export const VOLUME_SOURCE = `
AWSElasticBlockStoreVolumeSource | Awselastic block store volume source.
  1 volumeID:string! required | Volume id.
  2 fsType:string | Fs type.
  3 partition:int32 | Partition.
  4 readOnly:bool | Read only.

AzureDiskVolumeSource | Azure disk volume source.
  1 diskName:string! required | Disk name.
  2 diskURI:string! required | Disk uri.
  3* cachingMode:string(AzureDataDiskCachingMode) | Caching mode.
  4* fsType:string | Fs type.
  5* readOnly:bool | Read only.
  6* kind:string(AzureDataDiskKind) | Kind.

AzureFilePersistentVolumeSource | Azure file persistent volume source.
  1 secretName:string! required | Secret name.
  2 shareName:string! required | Share name.
  3 readOnly:bool | Read only.
  4* secretNamespace:string! required | Secret namespace.

AzureFileVolumeSource | Azure file volume source.
  1 secretName:string! required | Secret name.
  2 shareName:string! required | Share name.
  3 readOnly:bool | Read only.

CSIPersistentVolumeSource | Csipersistent volume source.
  1 driver:string! required | Driver.
  2 volumeHandle:string! required | Volume handle.
  3 readOnly:bool | Read only.
  4 fsType:string | Fs type.
  5 volumeAttributes:map<string> | Volume attributes.
  6* controllerPublishSecretRef:SecretReference | Controller publish secret ref.
  7* nodeStageSecretRef:SecretReference | Node stage secret ref.
  8* nodePublishSecretRef:SecretReference | Node publish secret ref.
  9* controllerExpandSecretRef:SecretReference | Controller expand secret ref.
  10* nodeExpandSecretRef:SecretReference | Node expand secret ref.

CephFSPersistentVolumeSource | Ceph fspersistent volume source.
  1 monitors:[]string! required | Monitors.
  2 path:string | Path.
  3 user:string | User.
  4 secretFile:string | Secret file.
  5* secretRef:SecretReference | Secret ref.
  6 readOnly:bool | Read only.

CephFSVolumeSource | Ceph fsvolume source.
  1 monitors:[]string! required | Monitors.
  2 path:string | Path.
  3 user:string | User.
  4 secretFile:string | Secret file.
  5* secretRef:LocalObjectReference | Secret ref.
  6 readOnly:bool | Read only.

CinderPersistentVolumeSource | Cinder persistent volume source.
  1 volumeID:string! required | Volume id.
  2 fsType:string | Fs type.
  3 readOnly:bool | Read only.
  4* secretRef:SecretReference | Secret ref.

CinderVolumeSource | Cinder volume source.
  1 volumeID:string! required | Volume id.
  2 fsType:string | Fs type.
  3 readOnly:bool | Read only.
  4* secretRef:LocalObjectReference | Secret ref.

FCVolumeSource | Fcvolume source.
  1 targetWWNs:[]string | Target wwns.
  2* lun:int32 | Lun.
  3 fsType:string | Fs type.
  4 readOnly:bool | Read only.
  5 wwids:[]string | Wwids.

FlexPersistentVolumeSource | Flex persistent volume source.
  1 driver:string! required | Driver.
  2 fsType:string | Fs type.
  3* secretRef:SecretReference | Secret ref.
  4 readOnly:bool | Read only.
  5 options:map<string> | Options.

FlexVolumeSource | Flex volume source.
  1 driver:string! required | Driver.
  2 fsType:string | Fs type.
  3* secretRef:LocalObjectReference | Secret ref.
  4 readOnly:bool | Read only.
  5 options:map<string> | Options.

FlockerVolumeSource | Flocker volume source.
  1 datasetName:string | Dataset name.
  2 datasetUUID:string | Dataset uuid.

GCEPersistentDiskVolumeSource | Gcepersistent disk volume source.
  1 pdName:string! required | Pd name.
  2 fsType:string | Fs type.
  3 partition:int32 | Partition.
  4 readOnly:bool | Read only.

GitRepoVolumeSource | Git repo volume source.
  1 repository:string! required | Repository.
  2 revision:string | Revision.
  3 directory:string | Directory.

GlusterfsPersistentVolumeSource | Glusterfs persistent volume source.
  1 endpoints:string! required | Endpoints.
  2 path:string! required | Path.
  3 readOnly:bool | Read only.
  4* endpointsNamespace:string | Endpoints namespace.

GlusterfsVolumeSource | Glusterfs volume source.
  1 endpoints:string! required | Endpoints.
  2 path:string! required | Path.
  3 readOnly:bool | Read only.

ISCSIPersistentVolumeSource | Iscsipersistent volume source.
  1 targetPortal:string! required | Target portal.
  2 iqn:string! required | Iqn.
  3 lun:int32! required | Lun.
  4 iscsiInterface:string | Iscsi interface.
  5 fsType:string | Fs type.
  6 readOnly:bool | Read only.
  7 portals:[]string | Portals.
  8 chapAuthDiscovery:bool | Chap auth discovery.
  11 chapAuthSession:bool | Chap auth session.
  10* secretRef:SecretReference | Secret ref.
  12* initiatorName:string | Initiator name.

ISCSIVolumeSource | Iscsivolume source.
  1 targetPortal:string! required | Target portal.
  2 iqn:string! required | Iqn.
  3 lun:int32! required | Lun.
  4 iscsiInterface:string | Iscsi interface.
  5 fsType:string | Fs type.
  6 readOnly:bool | Read only.
  7 portals:[]string | Portals.
  8 chapAuthDiscovery:bool | Chap auth discovery.
  11 chapAuthSession:bool | Chap auth session.
  10* secretRef:LocalObjectReference | Secret ref.
  12* initiatorName:string | Initiator name.

LocalVolumeSource | Local volume source.
  1 path:string! required | Path.
  2* fsType:string | Fs type.

NFSVolumeSource | Nfsvolume source.
  1 server:string! required | Server.
  2 path:string! required | Path.
  3 readOnly:bool | Read only.

PhotonPersistentDiskVolumeSource | Photon persistent disk volume source.
  1 pdID:string! required | Pd id.
  2 fsType:string | Fs type.

PortworxVolumeSource | Portworx volume source.
  1 volumeID:string! required | Volume id.
  2 fsType:string | Fs type.
  3 readOnly:bool | Read only.

QuobyteVolumeSource | Quobyte volume source.
  1 registry:string! required | Registry.
  2 volume:string! required | Volume.
  3 readOnly:bool | Read only.
  4 user:string | User.
  5 group:string | Group.
  6 tenant:string | Tenant.

RBDPersistentVolumeSource | Rbdpersistent volume source.
  1 monitors:[]string! required | Monitors.
  2 image:string! required | Image.
  3 fsType:string | Fs type.
  4 pool:string | Pool.
  5 user:string | User.
  6 keyring:string | Keyring.
  7* secretRef:SecretReference | Secret ref.
  8 readOnly:bool | Read only.

RBDVolumeSource | Rbdvolume source.
  1 monitors:[]string! required | Monitors.
  2 image:string! required | Image.
  3 fsType:string | Fs type.
  4 pool:string | Pool.
  5 user:string | User.
  6 keyring:string | Keyring.
  7* secretRef:LocalObjectReference | Secret ref.
  8 readOnly:bool | Read only.

ScaleIOPersistentVolumeSource | Scale iopersistent volume source.
  1 gateway:string! required | Gateway.
  2 system:string! required | System.
  3* secretRef:SecretReference! required | Secret ref.
  4 sslEnabled:bool | Ssl enabled.
  5 protectionDomain:string | Protection domain.
  6 storagePool:string | Storage pool.
  7 storageMode:string | Storage mode.
  8 volumeName:string | Volume name.
  9 fsType:string | Fs type.
  10 readOnly:bool | Read only.

ScaleIOVolumeSource | Scale iovolume source.
  1 gateway:string! required | Gateway.
  2 system:string! required | System.
  3* secretRef:LocalObjectReference! required | Secret ref.
  4 sslEnabled:bool | Ssl enabled.
  5 protectionDomain:string | Protection domain.
  6 storagePool:string | Storage pool.
  7 storageMode:string | Storage mode.
  8 volumeName:string | Volume name.
  9 fsType:string | Fs type.
  10 readOnly:bool | Read only.

StorageOSPersistentVolumeSource | Storage ospersistent volume source.
  1 volumeName:string | Volume name.
  2 volumeNamespace:string | Volume namespace.
  3 fsType:string | Fs type.
  4 readOnly:bool | Read only.
  5* secretRef:ObjectReference | Secret ref.

StorageOSVolumeSource | Storage osvolume source.
  1 volumeName:string | Volume name.
  2 volumeNamespace:string | Volume namespace.
  3 fsType:string | Fs type.
  4 readOnly:bool | Read only.
  5* secretRef:LocalObjectReference | Secret ref.

VsphereVirtualDiskVolumeSource | Vsphere virtual disk volume source.
  1 volumePath:string! required | Volume path.
  2 fsType:string | Fs type.
  3 storagePolicyName:string | Storage policy name.
  4 storagePolicyID:string | Storage policy id.
`
