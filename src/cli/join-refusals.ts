import {TrustError} from '../errors.ts'

export function controlPlaneRefused(what: string): TrustError {
  return new TrustError('USAGE', `${what} asks for another control plane, and join makes a node`, {
    hints: ['leave it out to join as a node', 'a control plane is set up with "trustadm init"'],
  })
}
