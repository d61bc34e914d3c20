/** Types of volumes of pods that Kubernetes fills itself; parse.ts describes the format. */
export const VOLUME = `
Volume | Files that containers of a pod can mount.
  1 name:string! required | Its name.
  2 (inline):VolumeSource | Where the files come from.

VolumeSource | Where a volume's files come from: exactly one of these.
  1* hostPath:HostPathVolumeSource | A file or folder of the node.
  2* emptyDir:EmptyDirVolumeSource | A folder that is empty at first and lives as long as the pod.
  3* gcePersistentDisk:GCEPersistentDiskVolumeSource | A disk of Google Cloud.
  4* awsElasticBlockStore:AWSElasticBlockStoreVolumeSource | A disk of AWS.
  5* gitRepo:GitRepoVolumeSource | A checkout of a git repository; outdated and unsafe.
  6* secret:SecretVolumeSource | Files made of a Secret's entries.
  7* nfs:NFSVolumeSource | A folder of an NFS server.
  8* iscsi:ISCSIVolumeSource | A disk behind iSCSI.
  9* glusterfs:GlusterfsVolumeSource | A volume of Gluster.
  10* persistentVolumeClaim:PersistentVolumeClaimVolumeSource | A volume that a claim of the same namespace has got.
  11* rbd:RBDVolumeSource | A block device of Ceph.
  12* flexVolume:FlexVolumeSource | A volume of a driver program on the node.
  13* cinder:CinderVolumeSource | A disk of OpenStack.
  14* cephfs:CephFSVolumeSource | A folder of a Ceph file system.
  15* flocker:FlockerVolumeSource | A dataset of Flocker.
  16* downwardAPI:DownwardAPIVolumeSource | Files made of the pod's own fields.
  17* fc:FCVolumeSource | A disk behind Fibre Channel.
  18* azureFile:AzureFileVolumeSource | A file share of Azure.
  19* configMap:ConfigMapVolumeSource | Files made of a ConfigMap's entries.
  20* vsphereVolume:VsphereVirtualDiskVolumeSource | A disk of vSphere.
  21* quobyte:QuobyteVolumeSource | A volume of Quobyte.
  22* azureDisk:AzureDiskVolumeSource | A disk of Azure.
  23* photonPersistentDisk:PhotonPersistentDiskVolumeSource | A disk of Photon.
  26* projected:ProjectedVolumeSource | Several sources in one folder.
  24* portworxVolume:PortworxVolumeSource | A volume of Portworx.
  25* scaleIO:ScaleIOVolumeSource | A volume of ScaleIO.
  27* storageos:StorageOSVolumeSource | A volume of StorageOS.
  28* csi:CSIVolumeSource | A volume of a CSI driver.
  29* ephemeral:EphemeralVolumeSource | A volume whose claim is made for the pod and deleted with it.
  30* image:ImageVolumeSource | The files of an image, read-only.

SecretVolumeSource | Files made of a Secret's entries.
  1 secretName:string | The Secret's name.
  2 items:[]KeyToPath | Which entries become files, and under which names; all of them where absent.
  3* defaultMode:int32 | Permission bits of files that set none of their own.
  4* optional:bool | Whether it may be missing.

ConfigMapVolumeSource | Files made of a ConfigMap's entries.
  1 (inline):LocalObjectReference | The ConfigMap.
  2 items:[]KeyToPath | Which entries become files, and under which names; all of them where absent.
  3* defaultMode:int32 | Permission bits of files that set none of their own.
  4* optional:bool | Whether it may be missing.

KeyToPath | Which entry becomes which file.
  1 key:string! required | The name of the entry.
  2 path:string! required | The file's path within the volume.
  3* mode:int32 | Permission bits of this file.

EmptyDirVolumeSource | A folder that is empty at first and lives as long as the pod.
  1 medium:string(StorageMedium) | Where it is kept; Memory for RAM.
  2* sizeLimit:Quantity | How big it may grow.

HostPathVolumeSource | A file or folder of the node.
  1 path:string! required | The path on the node.
  2* type:string(HostPathType) | What must be there, or be made.

PersistentVolumeClaimVolumeSource | A volume that a claim has got.
  1 claimName:string! required | The claim's name.
  2 readOnly:bool | Whether nothing can be written.

DownwardAPIVolumeSource | Files made of the pod's own fields.
  1 items:[]DownwardAPIVolumeFile | Which entries become files, and under which names; all of them where absent.
  2* defaultMode:int32 | Permission bits of files that set none of their own.

DownwardAPIVolumeFile | A file made of one field of the pod.
  1 path:string! required | The file's path within the volume.
  2* fieldRef:ObjectFieldSelector | A field of the pod.
  3* resourceFieldRef:ResourceFieldSelector | A resource limit or request of a container.
  4* mode:int32 | Permission bits of this file.

ProjectedVolumeSource | Several sources in one folder.
  1 sources:[]VolumeProjection! | The sources.
  2* defaultMode:int32 | Permission bits of files that set none of their own.

VolumeProjection | One of several sources in a folder: exactly one of these.
  1* secret:SecretProjection | Files made of a Secret's entries.
  2* downwardAPI:DownwardAPIProjection | Files made of the pod's own fields.
  3* configMap:ConfigMapProjection | Files made of a ConfigMap's entries.
  4* serviceAccountToken:ServiceAccountTokenProjection | A token of the pod's service account.
  5* clusterTrustBundle:ClusterTrustBundleProjection | Trusted certificates.
  6* podCertificate:PodCertificateProjection | A key and a certificate for the pod.

SecretProjection | Files made of a Secret's entries, among others.
  1 (inline):LocalObjectReference | The Secret.
  2 items:[]KeyToPath | Which entries become files, and under which names; all of them where absent.
  4* optional:bool | Whether it may be missing.

ConfigMapProjection | Files made of a ConfigMap's entries, among others.
  1 (inline):LocalObjectReference | The ConfigMap.
  2 items:[]KeyToPath | Which entries become files, and under which names; all of them where absent.
  4* optional:bool | Whether it may be missing.

DownwardAPIProjection | Files made of the pod's own fields, among others.
  1 items:[]DownwardAPIVolumeFile | Which entries become files, and under which names; all of them where absent.

ServiceAccountTokenProjection | A file with a token of the pod's service account, kept fresh.
  1 audience:string | Who the token is for.
  2* expirationSeconds:int64 | How long it should be valid.
  3 path:string! required | The file's path within the volume.

ClusterTrustBundleProjection | A file with trusted certificates, kept fresh.
  1* name:string | The bundle's name.
  2* signerName:string | The signer whose bundles are meant.
  3* labelSelector:meta.LabelSelector | Which bundles of the signer are meant.
  5* optional:bool | Whether it may be missing.
  4 path:string! required | The file's path within the volume.

PodCertificateProjection | Files with a key and a certificate for the pod, kept fresh.
  1 signerName:string | Who should sign, such as kubernetes.io/kubelet-serving.
  2 keyType:string | Which kind of key to make.
  3* maxExpirationSeconds:int32 | How long the certificate may be valid at most.
  4 credentialBundlePath:string | The file with key and certificates together.
  5 keyPath:string | The file with the key.
  6 certificateChainPath:string | The file with the certificates.
  7 userAnnotations:map<string> | Further wishes to the signer.

EphemeralVolumeSource | A volume whose claim is made for the pod and deleted with it.
  1* volumeClaimTemplate:PersistentVolumeClaimTemplate | The pattern of the claim.

ImageVolumeSource | The files of an image.
  1 reference:string | The image.
  2 pullPolicy:string(PullPolicy) | When to pull it: Always, IfNotPresent or Never.

CSIVolumeSource | A volume that a CSI driver makes for the pod.
  1 driver:string! required | The driver's name.
  2* readOnly:bool | Whether nothing can be written.
  3* fsType:string | The file system to mount, such as ext4.
  4 volumeAttributes:map<string> | Settings for the driver, in its own words.
  5* nodePublishSecretRef:LocalObjectReference | The Secret that the driver needs on the node.
`
