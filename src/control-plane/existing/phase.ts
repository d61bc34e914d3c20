import type {ApiClient} from '../../client/api-client.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import type {Phase} from '../../phases.ts'
import type {TokenContext} from '../init/bootstrap-token.ts'

/** The phases of `init` that work with a cluster that somebody else made, in their order. */
export const EXISTING_PHASE_NAMES = [
  'rbac',
  'kubeadm-config',
  'cluster-info',
  'bootstrap-token',
] as const

export type ExistingPhaseName = (typeof EXISTING_PHASE_NAMES)[number]

/** What these phases work with. */
export interface ExistingContext extends TokenContext {
  client: ApiClient
  access: ServerAccess & {ca: string}
  /** A command line for this cluster. */
  commandFor: (command: string) => string
}

export type ExistingPhase = Phase<ExistingContext, ExistingPhaseName>
