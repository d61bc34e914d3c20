import {elsewhere, messageOf, systemCode, TrustError, type Hint} from '../errors.ts'
import {printable} from './printable.ts'
import {distrustOf} from './tls-errors.ts'

/** No connection to the server: nothing of the request was sent. */
const NEVER_SENT = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['EHOSTUNREACH', 'there is no route to the host'],
  ['ENETUNREACH', 'there is no route to the network'],
  ['ENETDOWN', 'the network is down'],
  ['EAI_AGAIN', 'its name cannot be resolved now'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it did not accept a connection in time'],
  ['ETIMEDOUT', 'it did not accept a connection in time'],
])

const CUT = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET'])

/** Turns an error of a socket, TLS or the HTTP parser into one that says what to do. */
export function connectionError(error: unknown, server: string): TrustError {
  if (error instanceof TrustError) return error
  const code = rootCode(error)
  const facts = code === undefined ? {server} : {server, systemCode: code}
  return (
    distrustOf(error, code, server) ??
    new TrustError(
      code?.startsWith('HPE_') ? 'SERVER_ERROR' : 'SERVER_UNREACHABLE',
      `${server} ${reasonFor(code, error)}`,
      {cause: error, facts, hints: hintsFor(code)},
    )
  )
}

/** Whether a request that failed like this can be sent again without a risk of doing it twice. */
export function wasNeverSent(error: unknown): boolean {
  return NEVER_SENT.has(factCode(error) ?? '')
}

/** Whether the connection broke after the request was sent: the server may have processed it. */
export function wasCut(error: unknown): boolean {
  return CUT.has(factCode(error) ?? '')
}

function factCode(error: unknown): string | undefined {
  const code = error instanceof TrustError ? error.facts.systemCode : undefined
  return typeof code === 'string' ? code : undefined
}

/** undici wraps some socket errors: the innermost code says what happened. */
function rootCode(error: unknown): string | undefined {
  if (error instanceof Error && error.name === 'HTTPParserError') return 'HPE_INVALID'
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  return (inner && systemCode(inner)) ?? systemCode(error)
}

function reasonFor(code: string | undefined, error: unknown): string {
  if (code === 'ENOTFOUND') return 'cannot be reached: its name does not exist'
  if (code !== undefined && NEVER_SENT.has(code)) {
    return `cannot be reached: ${NEVER_SENT.get(code) ?? code}`
  }
  if (code !== undefined && CUT.has(code)) return 'closed the connection'
  if (code?.startsWith('HPE_')) return 'does not speak HTTP'
  return `cannot be reached: ${printable(messageOf(error))}`
}

function hintsFor(code: string | undefined): Hint[] {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return ['check the host name in the kubeconfig, and the DNS servers of this machine']
  }
  if (code?.startsWith('HPE_')) return ['check that the address is that of a Kubernetes API server']
  return [
    elsewhere('check that the API server runs ("trustadm status" on its machine)'),
    'check the address in the kubeconfig, firewalls and the proxy variables',
  ]
}
