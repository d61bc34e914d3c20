import {TrustError} from '../errors.ts'

/** What a refusal means for somebody who came with a bootstrap token. */
export function explainRefusal(error: unknown): unknown {
  if (!(error instanceof TrustError)) return error
  const details = {cause: error, facts: error.facts}
  if (error.code === 'UNAUTHORIZED') {
    return new TrustError('UNAUTHORIZED', 'the cluster does not accept the token', {
      ...details,
      hints: [
        'it is unknown there, has expired, was deleted, or is not for authentication: look with "trustadm token list" on the control plane',
        '"trustadm token create --print-join-command" there makes a new one',
      ],
    })
  }
  if (error.code === 'FORBIDDEN') {
    return new TrustError('FORBIDDEN', `the token does not allow this: ${error.message}`, {
      ...details,
      hints: [
        'its groups need the role system:node-bootstrapper, which "trustadm init phase bootstrap-token" gives to the default group',
        '"trustadm token create --print-join-command" on the control plane makes a token of that group',
      ],
    })
  }
  return error
}
