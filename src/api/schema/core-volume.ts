/** Types of volumes of pods that Kubernetes fills itself; parse.ts tells how a table is read. */
export const VOLUME = `
Volume | Volume.
  1 name:string! required | Name.
  2 (inline):VolumeSource | Stands in the parent.

VolumeSource | Volume source.
  1* hostPath:HostPathVolumeSource | Host path.
  2* emptyDir:EmptyDirVolumeSource | Empty dir.
  3* gcePersistentDisk:GCEPersistentDiskVolumeSource | Gce persistent disk.
  4* awsElasticBlockStore:AWSElasticBlockStoreVolumeSource | Aws elastic block store.
  5* gitRepo:GitRepoVolumeSource | Git repo.
  6* secret:SecretVolumeSource | Secret.
  7* nfs:NFSVolumeSource | Nfs.
  8* iscsi:ISCSIVolumeSource | Iscsi.
  9* glusterfs:GlusterfsVolumeSource | Glusterfs.
  10* persistentVolumeClaim:PersistentVolumeClaimVolumeSource | Persistent volume claim.
  11* rbd:RBDVolumeSource | Rbd.
  12* flexVolume:FlexVolumeSource | Flex volume.
  13* cinder:CinderVolumeSource | Cinder.
  14* cephfs:CephFSVolumeSource | Cephfs.
  15* flocker:FlockerVolumeSource | Flocker.
  16* downwardAPI:DownwardAPIVolumeSource | Downward api.
  17* fc:FCVolumeSource | Fc.
  18* azureFile:AzureFileVolumeSource | Azure file.
  19* configMap:ConfigMapVolumeSource | Config map.
  20* vsphereVolume:VsphereVirtualDiskVolumeSource | Vsphere volume.
  21* quobyte:QuobyteVolumeSource | Quobyte.
  22* azureDisk:AzureDiskVolumeSource | Azure disk.
  23* photonPersistentDisk:PhotonPersistentDiskVolumeSource | Photon persistent disk.
  26* projected:ProjectedVolumeSource | Projected.
  24* portworxVolume:PortworxVolumeSource | Portworx volume.
  25* scaleIO:ScaleIOVolumeSource | Scale io.
  27* storageos:StorageOSVolumeSource | Storageos.
  28* csi:CSIVolumeSource | Csi.
  29* ephemeral:EphemeralVolumeSource | Ephemeral.
  30* image:ImageVolumeSource | Image.

SecretVolumeSource | Secret volume source.
  1 secretName:string | Secret name.
  2 items:[]KeyToPath | Items.
  3* defaultMode:int32 | Default mode.
  4* optional:bool | Optional.

ConfigMapVolumeSource | Config map volume source.
  1 (inline):LocalObjectReference | Stands in the parent.
  2 items:[]KeyToPath | Items.
  3* defaultMode:int32 | Default mode.
  4* optional:bool | Optional.

KeyToPath | Key to path.
  1 key:string! required | Key.
  2 path:string! required | Path.
  3* mode:int32 | Mode.

EmptyDirVolumeSource | Empty dir volume source.
  1 medium:string(StorageMedium) | Medium.
  2* sizeLimit:Quantity | Size limit.

HostPathVolumeSource | Host path volume source.
  1 path:string! required | Path.
  2* type:string(HostPathType) | Type.

PersistentVolumeClaimVolumeSource | Persistent volume claim volume source.
  1 claimName:string! required | Claim name.
  2 readOnly:bool | Read only.

DownwardAPIVolumeSource | Downward apivolume source.
  1 items:[]DownwardAPIVolumeFile | Items.
  2* defaultMode:int32 | Default mode.

DownwardAPIVolumeFile | Downward apivolume file.
  1 path:string! required | Path.
  2* fieldRef:ObjectFieldSelector | Field ref.
  3* resourceFieldRef:ResourceFieldSelector | Resource field ref.
  4* mode:int32 | Mode.

ProjectedVolumeSource | Projected volume source.
  1 sources:[]VolumeProjection! | Sources.
  2* defaultMode:int32 | Default mode.

VolumeProjection | Volume projection.
  1* secret:SecretProjection | Secret.
  2* downwardAPI:DownwardAPIProjection | Downward api.
  3* configMap:ConfigMapProjection | Config map.
  4* serviceAccountToken:ServiceAccountTokenProjection | Service account token.
  5* clusterTrustBundle:ClusterTrustBundleProjection | Cluster trust bundle.
  6* podCertificate:PodCertificateProjection | Pod certificate.

SecretProjection | Secret projection.
  1 (inline):LocalObjectReference | Stands in the parent.
  2 items:[]KeyToPath | Items.
  4* optional:bool | Optional.

ConfigMapProjection | Config map projection.
  1 (inline):LocalObjectReference | Stands in the parent.
  2 items:[]KeyToPath | Items.
  4* optional:bool | Optional.

DownwardAPIProjection | Downward apiprojection.
  1 items:[]DownwardAPIVolumeFile | Items.

ServiceAccountTokenProjection | Service account token projection.
  1 audience:string | Audience.
  2* expirationSeconds:int64 | Expiration seconds.
  3 path:string! required | Path.

ClusterTrustBundleProjection | Cluster trust bundle projection.
  1* name:string | Name.
  2* signerName:string | Signer name.
  3* labelSelector:meta.LabelSelector | Label selector.
  5* optional:bool | Optional.
  4 path:string! required | Path.

PodCertificateProjection | Pod certificate projection.
  1 signerName:string | Signer name.
  2 keyType:string | Key type.
  3* maxExpirationSeconds:int32 | Max expiration seconds.
  4 credentialBundlePath:string | Credential bundle path.
  5 keyPath:string | Key path.
  6 certificateChainPath:string | Certificate chain path.
  7 userAnnotations:map<string> | User annotations.

EphemeralVolumeSource | Ephemeral volume source.
  1* volumeClaimTemplate:PersistentVolumeClaimTemplate | Volume claim template.

ImageVolumeSource | Image volume source.
  1 reference:string | Reference.
  2 pullPolicy:string(PullPolicy) | Pull policy.

CSIVolumeSource | Csivolume source.
  1 driver:string! required | Driver.
  2* readOnly:bool | Read only.
  3* fsType:string | Fs type.
  4 volumeAttributes:map<string> | Volume attributes.
  5* nodePublishSecretRef:LocalObjectReference | Node publish secret ref.
`
