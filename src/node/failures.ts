import {isUnknownAuthority} from '../client/connection-errors.ts'
import {shellWord} from '../client/printable.ts'
import {isForeignAnswer} from '../client/status-errors.ts'
import {elsewhere, hasCode, TrustError, type Hint} from '../errors.ts'
import {defaultNodeDir} from '../fs/default-folders.ts'
import {type Clock, formatTimestamp} from '../runtime.ts'
import {nodeFile} from './node-files.ts'

/** Nothing answered, or nothing that this node trusts, or a server that cannot do its work. */
const UNHEALTHY = [
  'SERVER_UNREACHABLE',
  'SERVER_NOT_TRUSTED',
  'SERVER_NOT_TLS',
  'TLS_FAILED',
  'SERVER_ERROR',
  'TIMED_OUT',
  'ANSWER_TOO_LARGE',
] as const

/** What became of a request that the server took. */
const OUTCOMES = [
  'CERTIFICATE_DENIED',
  'CERTIFICATE_FAILED',
  'CERTIFICATE_INVALID',
  'CERTIFICATE_PENDING',
  'CERTIFICATE_REQUEST_DELETED',
] as const

/**
 * Whether a failure shows a healthy API server; undefined if it says nothing about the server. As the kubelet's certificate manager:
 * a refusal in the form of the API is a sign of health, and so is every 401, which proxies also send for the server. Any other answer
 * that is not in that form comes from something else at the address.
 */
export function serverHealth(error: unknown): boolean | undefined {
  if (hasCode(error, 'UNAUTHORIZED', ...OUTCOMES)) return true
  if (hasCode(error, ...UNHEALTHY) || isForeignAnswer(error)) return false
  return error instanceof TrustError && error.facts.status !== undefined ? true : undefined
}

/** However long a server asks to wait: it may be wrong, or not ours. */
const LONGEST_ASKED = 3_600_000

/** How many milliseconds a failure asks to wait, as that of a busy server does; at most an hour. */
export const askedWait = (error: unknown): number =>
  Math.min(error instanceof TrustError ? Number(error.facts.retryAfter ?? 0) : 0, LONGEST_ASKED)

/** How long to wait before something is done again. At first, and once it was ended, there is nothing to wait for. */
export class Wait {
  readonly #clock: Clock
  #until = 0
  #length = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** When it is over; the epoch if there is nothing to wait for. A clock that was set back does not make the wait longer. */
  get until(): Date {
    // Kept, because a limit that moved along with the clock would never be reached.
    this.#until = Math.min(this.#until, this.#clock.now().getTime() + this.#length)
    return new Date(this.#until)
  }

  start(milliseconds: number): void {
    this.#length = milliseconds
    this.#until = this.#clock.now().getTime() + milliseconds
  }

  end(): void {
    this.#until = 0
  }
}

/** This machine, as its commands name it. */
export interface Self {
  dir: string
  nodeName: string
  /** Whether its kubelet joined with kubeadm or by itself. */
  isKubelets?: boolean
}

const JOIN_COMMAND = elsewhere(
  'to join again, get a join command with "trustadm token create --print-join-command" on the control plane',
)

const flagsFor = ({dir}: Self): string[] =>
  dir === defaultNodeDir() ? [] : [`--dir ${shellWord(dir)}`]

/** What `trustadm join` needs to bring this very machine back. */
const ownJoinFlags = (self: Self): string =>
  [...flagsFor(self), `--node-name ${shellWord(self.nodeName)}`].join(' ')

/** What a machine that has lost its cluster has to do. `join` itself prints how to get its name back. */
function joinAgain(self: Self): Hint[] {
  const added = ownJoinFlags(self)
  if (self.isKubelets) {
    const ca = shellWord(nodeFile(self.dir, 'ca'))
    return [
      JOIN_COMMAND,
      `then run "mv ${ca} ${ca}.old" here, and that join command with "${added}" added: the key and all pods stay`,
    ]
  }
  const leave = ['trustadm node leave', ...flagsFor(self)].join(' ')
  return [JOIN_COMMAND, `then run "${leave}" here, and that join command with "${added}" added`]
}

/** What a machine has to do whose certificate has expired. Never to leave: it would lose the key by which the cluster knows it. */
const hintsIfExpired = (self: Self): Hint[] => [
  JOIN_COMMAND,
  `then run it here with "${ownJoinFlags(self)}" added: it keeps the key, so that the cluster recognizes this machine`,
  'or give "trustadm node run" a --bootstrap-kubeconfig',
]

export const certificateExpired = (notAfter: Date, self: Self, cause?: unknown): TrustError =>
  new TrustError(
    'NODE_CERTIFICATE_EXPIRED',
    `the certificate of this node expired at ${formatTimestamp(notAfter)}, and there is nothing else to authenticate with`,
    {cause, facts: {notAfter: notAfter.toISOString()}, hints: hintsIfExpired(self)},
  )

const hintsIfRefused = (self: Self): Hint[] => [
  elsewhere(
    `it may have been revoked: "trustadm certificate list --revoked" on the control plane shows why, and "trustadm certificate unrevoke --node ${shellWord(self.nodeName)}" takes that back`,
  ),
  'or the CA of the certificate was replaced without this machine, which then has to join again',
  ...joinAgain(self),
]

const hintsIfUnknown = (self: Self): Hint[] => [
  'if you did not expect that, stop: someone may be intercepting the connection to the cluster',
  'if the CA was rotated without this machine, it has to join again',
  ...joinAgain(self),
]

/**
 * A failure as a person at this machine has to read it. The client's own hints are for people with a kubeconfig. `expiredAt`: when the certificate
 * expired that was used.
 */
export function asShutOut(error: unknown, self: Self, expiredAt?: Date): unknown {
  if (hasCode(error, 'UNAUTHORIZED')) {
    if (expiredAt) return certificateExpired(expiredAt, self, error)
    return new TrustError(
      'UNAUTHORIZED',
      'the cluster does not accept the certificate of this node',
      {cause: error, facts: error.facts, hints: hintsIfRefused(self)},
    )
  }
  if (!hasCode(error, 'SERVER_NOT_TRUSTED') || !isUnknownAuthority(error.facts.systemCode))
    return error
  const {server} = error.facts
  const who = typeof server === 'string' ? server : 'the server'
  return new TrustError(
    'SERVER_NOT_TRUSTED',
    `${who} presents a certificate of a CA that this machine does not trust`,
    {cause: error, facts: error.facts, hints: hintsIfUnknown(self)},
  )
}

/** The hints of such a failure that another process has noted; undefined if it is another one. */
export function hintsOfNoted(
  {code, systemCode}: {code: string; systemCode?: string},
  self: Self,
): Hint[] | undefined {
  if (code === 'UNAUTHORIZED') return hintsIfRefused(self)
  if (code === 'NODE_CERTIFICATE_EXPIRED') return hintsIfExpired(self)
  return code === 'SERVER_NOT_TRUSTED' && isUnknownAuthority(systemCode)
    ? hintsIfUnknown(self)
    : undefined
}
