import {parseCertificateDer, type Certificate} from './certificate.ts'
import {canonicalIp} from './ip-address.ts'
import {pointOf, problemOfKind} from './key-info.ts'
import {OID} from './oids.ts'
import type {SubjectNames} from './subject-names.ts'

/** Problems of a chain that OpenSSL accepts and Go does not. */
export type ServerProblem = 'unreadable' | 'host' | 'root' | 'root key' | 'constrained name'

const HOST = /^(?:\w[\w-]*)(?:\.\w[\w-]*)*$/
const PATTERN = /^(?:\*|\w[\w-]*)(?:\.\w[\w-]*)*$/
const LONGEST_NAME = 1024
const ODD_LABEL = /^$|[^\x21-\x7e]/

/** Go's `VerifyHostname`: a wildcard matches one whole label, the first, and the common name is ignored. */
export function isForHost({dns, ips}: Readonly<SubjectNames>, host: string): boolean {
  const address = canonicalIp(host.replace(/^\[(.*)\]$/, '$1'))
  if (address !== undefined) return ips.includes(address)
  const wanted = host.toLowerCase().replace(/\.$/, '')
  if (wanted === '' || wanted.length > LONGEST_NAME) return false
  return dns.some((name) => matches(name.toLowerCase(), wanted))
}

function matches(name: string, wanted: string): boolean {
  if (name.length > LONGEST_NAME) return false
  if (!HOST.test(wanted) || !PATTERN.test(name) || name === '*') return name === wanted
  if (!name.startsWith('*.')) return name === wanted
  const dot = wanted.indexOf('.')
  return dot !== -1 && name.slice(1) === wanted.slice(dot)
}

/** Below a CA with name constraints, Go requires every name to be well-formed. */
function hasOddName({dns, emails}: Readonly<SubjectNames>): boolean {
  const isOdd = (domain: string) => domain.split('.').some((label) => ODD_LABEL.test(label))
  return dns.some(isOdd) || emails.some((email) => isOdd(/^[^@]+@([^@]+)$/.exec(email)?.[1] ?? ''))
}

function isRootKey({publicKeyDer}: Certificate): boolean {
  try {
    return pointOf(publicKeyDer) !== undefined || problemOfKind(publicKeyDer) === undefined
  } catch {
    return false
  }
}

/**
 * Checks a server's chain, leaf first and root last, as Go does, after OpenSSL has checked signatures and validity: no token is
 * sent to a server that kubectl would not connect to.
 */
export function problemOfServer(
  chain: readonly Uint8Array[],
  host: string,
): ServerProblem | undefined {
  let certificates: Certificate[]
  try {
    certificates = chain.map(parseCertificateDer)
  } catch {
    return 'unreadable'
  }
  const [leaf, ...authorities] = certificates
  if (leaf === undefined) return 'unreadable'
  if (!isForHost(leaf.names, host)) return 'host'
  const root = authorities[authorities.length - 1]
  if (root && !root.isAuthority) return 'root'
  if (root && !isRootKey(root)) return 'root key'
  const isLimited = authorities.some(({notUnderstood}) =>
    notUnderstood.includes(OID.nameConstraints),
  )
  return isLimited && hasOddName(leaf.names) ? 'constrained name' : undefined
}
