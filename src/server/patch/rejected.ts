import {StatusError} from '../kernel/status.ts'

/** The patch was understood and does not apply: Kubernetes tells no more than this. */
export const rejected = () =>
  new StatusError(
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
  )
