import {bootstrapToken} from './bootstrap-token.ts'
import {certs} from './certs.ts'
import {clusterInfo} from './cluster-info.ts'
import {controlPlane} from './control-plane.ts'
import {kubeconfig} from './kubeconfig.ts'
import {namespaces} from './namespaces.ts'
import type {Phase} from './phase.ts'
import {preflight} from './preflight.ts'
import {rbac} from './rbac.ts'

export type {Phase, PhaseContext} from './phase.ts'

/** The steps of `init`, in their order. */
export const PHASES: readonly Phase[] = [
  preflight,
  certs,
  kubeconfig,
  controlPlane,
  namespaces,
  rbac,
  clusterInfo,
  bootstrapToken,
]
