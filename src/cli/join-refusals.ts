import {TrustError} from '../errors.ts'

export function controlPlaneRefused(what: string): TrustError {
  return new TrustError('USAGE', `${what} is for a control plane, and join creates a node`, {
    hints: ['leave it out to join as a node', 'to set up a control plane, use "trustadm init"'],
  })
}
