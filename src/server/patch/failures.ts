import {StatusError} from '../kernel/status.ts'
import {goText} from './go-text.ts'

/** The patch was understood and does not apply: Kubernetes reports no more than this. */
export const rejected = () =>
  new StatusError(
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
  )

/** Kubernetes returns most failures of a strategic merge as 500, with only the text and no reason. */
export const failed = (message: string) => new StatusError(500, undefined, message)

export const noMergeKey = (item: unknown, key: string) =>
  failed(`map: ${goText(item)} does not contain declared merge key: ${key}`)
