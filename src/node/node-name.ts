import {hostname} from 'node:os'
import {TrustError} from '../errors.ts'

const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`)
/** A Node has its name in the label `kubernetes.io/hostname`, and a label has no room for more. */
const LONGEST = 63

/** Refuses what no Node can be registered by. */
export function requireNodeName(text: string, what = '--node-name'): string {
  if (text.length > LONGEST) {
    throw new TrustError('USAGE', `${what} is longer than ${LONGEST} characters`, {
      hints: ['choose a shorter name with --node-name'],
    })
  }
  if (NAME.test(text)) return text
  throw new TrustError('USAGE', `${what} is not a name that a node can have`, {
    hints: ['use lower-case letters, digits, "-" and ".", as in "node1.example.com"'],
  })
}

/** What the machine calls itself, in lower case, as kubeadm and the kubelet take it. */
export const ownNodeName = (): string =>
  requireNodeName(hostname().trim().toLowerCase(), 'the host name of this machine')
