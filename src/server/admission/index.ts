import type {RbacIndex} from '../authz/rbac/rbac-index.ts'
import {namespaceLifecycle} from './namespace-lifecycle.ts'
import {pendingRequestLimit} from './pending-request-limit.ts'
import {chainPlugins} from './plugin.ts'
import type {AdmissionPlugin} from './plugin.ts'
import {priorityAdmission} from './priority.ts'
import {rbacEscalation} from './rbac-escalation.ts'
import {serviceAccountAdmission} from './service-account.ts'
import {taintNodesByCondition} from './taint-nodes-by-condition.ts'

export type {AdmissionOperation, AdmissionPlugin} from './plugin.ts'

/** The plugins that are always on, then those given. */
export const createAdmission = (
  index: RbacIndex,
  further: readonly AdmissionPlugin[] = [],
): AdmissionPlugin['admit'] =>
  chainPlugins([
    namespaceLifecycle,
    serviceAccountAdmission,
    taintNodesByCondition,
    priorityAdmission,
    rbacEscalation(index),
    pendingRequestLimit(),
    ...further,
  ])
