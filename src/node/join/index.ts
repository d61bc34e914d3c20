import {cleanup} from './cleanup.ts'
import {discovery} from './discovery.ts'
import {forKubelet} from './for-kubelet.ts'
import {kubeconfig} from './kubeconfig.ts'
import type {JoinPhase} from './phase.ts'
import {preflight} from './preflight.ts'
import {register} from './register-node.ts'
import {tlsBootstrap} from './tls-bootstrap.ts'

export type {JoinContext, JoinPhase, JoinSettings} from './phase.ts'

/** All steps of `join`, in their order. */
export const JOIN_PHASES: readonly JoinPhase[] = [
  preflight,
  discovery,
  forKubelet,
  tlsBootstrap,
  kubeconfig,
  register,
  cleanup,
]
