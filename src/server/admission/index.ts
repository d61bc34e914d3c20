import type {RbacIndex} from '../authz/rbac/rbac-index.ts'
import {chainPlugins, type Admission, type AdmissionPlugin} from '../kernel/admission.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  type BelievesSigner,
} from './certificates.ts'
import {namespaceLifecycle} from './namespace-lifecycle.ts'
import {nodeRestriction} from './node-restriction/index.ts'
import {priorityAdmission} from './priority.ts'
import {rbacEscalation} from './rbac-escalation.ts'
import {serviceAccountAdmission} from './service-account.ts'
import {taintNodesByCondition} from './taint-nodes-by-condition.ts'

/** The plugins that are always on, then those given. */
export const createAdmission = (
  index: RbacIndex,
  further: readonly AdmissionPlugin[] = [],
  believes?: BelievesSigner,
): Admission =>
  chainPlugins([
    namespaceLifecycle,
    serviceAccountAdmission,
    nodeRestriction,
    taintNodesByCondition,
    priorityAdmission,
    rbacEscalation(index),
    certificateApproval,
    certificateSigning,
    certificateSubjectRestriction(believes),
    ...further,
  ])
