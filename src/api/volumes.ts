import type {ApiObject, ResourceList} from './meta.ts'

/** Storage that outlives pods, and claims to it (core `v1`). */
export interface PersistentVolume extends ApiObject {
  spec?: PersistentVolumeSpec
  status?: {phase?: string; reason?: string; lastPhaseTransitionTime?: string}
}

interface PersistentVolumeSpec {
  capacity?: ResourceList
  accessModes?: string[]
  persistentVolumeReclaimPolicy?: string
  storageClassName?: string
  volumeMode?: string
  volumeAttributesClassName?: string
  claimRef?: {namespace?: string; name?: string; apiVersion?: string; kind?: string}
  hostPath?: {type?: string}
  azureFile?: {secretName?: string; secretNamespace?: string}
  csi?: {
    driver?: string
    nodePublishSecretRef?: SecretReference
    nodeStageSecretRef?: SecretReference
    nodeExpandSecretRef?: SecretReference
  }
  cephfs?: SecretUser
  cinder?: SecretUser
  flexVolume?: SecretUser
  iscsi?: SecretUser
  rbd?: SecretUser
  scaleIO?: SecretUser
  storageos?: SecretUser
}

/** A source of a volume that is mounted with a Secret. */
interface SecretUser {
  secretRef?: SecretReference
}

export interface SecretReference {
  name?: string
  namespace?: string
}

export interface PersistentVolumeClaim extends ApiObject {
  spec?: PersistentVolumeClaimSpec
  status?: {phase?: string; accessModes?: string[]; capacity?: ResourceList}
}

interface PersistentVolumeClaimSpec {
  volumeName?: string
  storageClassName?: string
  volumeMode?: string
  volumeAttributesClassName?: string
}
