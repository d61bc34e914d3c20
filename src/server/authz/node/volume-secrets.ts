import type {PersistentVolume, SecretReference} from '../../../api/volumes.ts'

/** The secrets that a kubelet mounts a volume with; those of its controllers are not for nodes. */
export function volumeSecrets({spec = {}}: PersistentVolume): Required<SecretReference>[] {
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
