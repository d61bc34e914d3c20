import type {ApiObject} from '../../api/meta.ts'

/** What no caller may choose for a new object. */
export function dropSystemMetadata({metadata}: ApiObject): void {
  delete metadata.resourceVersion
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.uid
  delete metadata.creationTimestamp
  delete (metadata as {selfLink?: string}).selfLink
}

/** What no caller may change, whatever it sent. */
export function restoreSystemMetadata({metadata}: ApiObject, {metadata: old}: ApiObject): void {
  delete (metadata as {selfLink?: string}).selfLink
  for (const field of ['uid', 'creationTimestamp', 'generateName'] as const) {
    if (metadata[field] === undefined || metadata[field] === null || metadata[field] === '') {
      if (old[field] !== undefined && old[field] !== null) metadata[field] = old[field]
    }
  }
  if (old.deletionTimestamp === undefined) delete metadata.deletionTimestamp
  else metadata.deletionTimestamp = old.deletionTimestamp
  if (old.deletionGracePeriodSeconds === undefined) delete metadata.deletionGracePeriodSeconds
  else metadata.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds
  if (old.generation === undefined) delete metadata.generation
  else metadata.generation = old.generation
}
