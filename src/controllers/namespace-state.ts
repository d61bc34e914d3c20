import type {Namespace} from '../api/core.ts'

/** New objects may be made in it. */
export const isActive = (namespace: Namespace | undefined): namespace is Namespace =>
  namespace !== undefined &&
  namespace.metadata.deletionTimestamp === undefined &&
  namespace.status?.phase !== 'Terminating'
