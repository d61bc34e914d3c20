import {hostname} from 'node:os'
import {LONGEST_NODE_NAME, isNodeName} from '../csr/node-names.ts'
import {TrustError} from '../errors.ts'

/** Refuses a name that no Node can have. */
export function requireNodeName(text: string, what = '--node-name'): string {
  if (text.length > LONGEST_NODE_NAME) {
    throw new TrustError('USAGE', `${what} is longer than ${LONGEST_NODE_NAME} characters`, {
      hints: ['choose a shorter name with --node-name'],
    })
  }
  if (isNodeName(text)) return text
  throw new TrustError('USAGE', `${what} is not a valid name for a node`, {
    hints: ['use lower-case letters, digits, "-" and ".", as in "node1.example.com"'],
  })
}

/** The host name in lower case, as kubeadm and the kubelet use it. */
export const ownNodeName = (): string =>
  requireNodeName(hostname().trim().toLowerCase(), 'the host name of this machine')
