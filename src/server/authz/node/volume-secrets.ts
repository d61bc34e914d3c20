import type {ApiObject} from '../../../api/meta.ts'

interface SecretReference {
  name?: string
  namespace?: string
}

interface ReferringSource {
  secretRef?: SecretReference
}

/** The part of a persistent volume that names its claim and secrets. */
export interface ReferringVolumeObject extends ApiObject {
  spec?: {
    claimRef?: {namespace?: string; name?: string}
    azureFile?: {secretName?: string; secretNamespace?: string}
    csi?: {
      nodePublishSecretRef?: SecretReference
      nodeStageSecretRef?: SecretReference
      nodeExpandSecretRef?: SecretReference
    }
    cephfs?: ReferringSource
    cinder?: ReferringSource
    flexVolume?: ReferringSource
    iscsi?: ReferringSource
    rbd?: ReferringSource
    scaleIO?: ReferringSource
    storageos?: ReferringSource
  }
}

/** The secrets that a kubelet mounts a volume with; those of its controllers are not for nodes. */
export function volumeSecrets({spec = {}}: ReferringVolumeObject): Required<SecretReference>[] {
  const {azureFile, csi, cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos} = spec
  const references: (SecretReference | undefined)[] = [
    azureFile && {
      ...(azureFile.secretName === undefined ? {} : {name: azureFile.secretName}),
      ...(azureFile.secretNamespace === undefined ? {} : {namespace: azureFile.secretNamespace}),
    },
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map(
      (source) => source?.secretRef,
    ),
  ]
  // A reference without a namespace is into that of the claim.
  const home = spec.claimRef?.namespace ?? ''
  return references
    .map(({name = '', namespace = ''} = {}) => ({
      name,
      namespace: namespace === '' ? home : namespace,
    }))
    .filter(({name, namespace}) => name !== '' && namespace !== '')
}
