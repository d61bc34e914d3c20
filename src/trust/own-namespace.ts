import {TrustError} from '../errors.ts'

/** Where trustadm keeps what it must be able to trust. Nobody but administrators and its own controllers has rights there. */
export const OWN_NAMESPACE = 'trustadm-system'

/** Of what was to be created in the namespace. */
export const noOwnNamespace = (cause: unknown): TrustError =>
  new TrustError(
    'NOT_FOUND',
    `the cluster has no namespace ${OWN_NAMESPACE}: create it with "kubectl create namespace ${OWN_NAMESPACE}"`,
    {cause},
  )
