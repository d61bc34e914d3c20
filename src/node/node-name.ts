import {hostname} from 'node:os'
import {TrustError} from '../errors.ts'

const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`)
/** The name is also a label of the Node, `kubernetes.io/hostname`, and labels cannot be longer. */
const LONGEST = 63

/** Refuses a name that no Node can have. */
export function requireNodeName(text: string, what = '--node-name'): string {
  if (text.length > LONGEST) {
    throw new TrustError('USAGE', `${what} is longer than ${LONGEST} characters`, {
      hints: ['choose a shorter name with --node-name'],
    })
  }
  if (NAME.test(text)) return text
  throw new TrustError('USAGE', `${what} is not a valid name for a node`, {
    hints: ['use lower-case letters, digits, "-" and ".", as in "node1.example.com"'],
  })
}

/** The host name in lower case, as kubeadm and the kubelet use it. */
export const ownNodeName = (): string =>
  requireNodeName(hostname().trim().toLowerCase(), 'the host name of this machine')
