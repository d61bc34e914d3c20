import {canonicalQuantity} from '../validation/quantity.ts'
import {defaultReferences, pullPolicyFor} from './container-defaults.ts'
import type {Volume} from './pod-types.ts'

/** 0644 */
const FILE_MODE = 0o644
const TOKEN_SECONDS = 3600

/** Defaults of one volume of a pod; without a source it is an empty folder. */
export function defaultVolume(volume: Volume): void {
  const {name: _, ...sources} = volume
  if (Object.values(sources).every((source) => source === undefined)) volume.emptyDir = {}
  if (volume.emptyDir?.sizeLimit !== undefined) {
    volume.emptyDir.sizeLimit = canonicalQuantity(volume.emptyDir.sizeLimit)
  }
  for (const files of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected]) {
    if (files) files.defaultMode ??= FILE_MODE
  }
  volume.downwardAPI?.items?.forEach(defaultReferences)
  for (const source of volume.projected?.sources ?? []) {
    if (source.serviceAccountToken) {
      source.serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS
    }
    source.downwardAPI?.items?.forEach(defaultReferences)
  }
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.iscsi) volume.iscsi.iscsiInterface ??= 'default'
  if (volume.image) volume.image.pullPolicy ??= pullPolicyFor(volume.image.reference ?? '')
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec
  if (claim) claim.volumeMode ??= 'Filesystem'
}
