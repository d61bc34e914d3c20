import {createHash} from 'node:crypto'
import type {Socket} from 'node:net'
import type {UserInfo} from '../../api/meta.ts'
import type {PeerCertificates} from '../kernel/api-request.ts'
import {callerGroup, isAnonymous} from '../kernel/users.ts'
import {BoundedCache} from '../limits/bounded-cache.ts'
import type {ProcessorSlice} from '../limits/processor-slice.ts'
import {addressKey} from '../limits/token-buckets.ts'
import {Turns, type Path} from '../limits/turns.ts'

/** How many credentials that were accepted are remembered. */
const REMEMBERED = 16_384
const STRANGERS = 'strangers'

/** What a caller shows, before anybody has looked at it. */
interface Credentials {
  peer: PeerCertificates | undefined
  authorization: string | undefined
}

export interface Arrival {
  /** Waits until the request may be processed. Throws if too many wait, or if its caller has left. */
  turn(signal: AbortSignal): Promise<void>
  /** Tells whose request it was; undefined if its credential was refused. */
  loggedIn(user: UserInfo | undefined): void
}

/**
 * Requests that have arrived. Each turn of the event loop takes as many as fit into a time slice. Whoever shows what was accepted before
 * waits with others of its kind, by its name; all others wait by their address. So nobody waits behind the flood of a neighbour, and a
 * connection with a thousand requests at once does not delay others.
 */
export class Arrivals {
  readonly #turns: Turns
  /** The group and name of callers by a hash of what they show. */
  readonly #callers = new BoundedCache<Path>(REMEMBERED)

  constructor(slice: ProcessorSlice) {
    this.#turns = new Turns(slice)
  }

  add({remoteAddress = '', remotePort = 0}: Socket, credentials: Credentials): Arrival {
    const key = keyOf(credentials)
    return {
      turn: async (signal) => {
        const caller = key === undefined ? undefined : this.#callers.get(key)
        const who = caller ?? [STRANGERS, addressKey(remoteAddress)]
        await this.#turns.wait([...who, String(remotePort)], signal)
        signal.throwIfAborted()
      },
      loggedIn: (user) => {
        if (key === undefined) return
        if (user === undefined || isAnonymous(user)) this.#callers.delete(key)
        else this.#callers.set(key, [callerGroup(user), user.username])
      },
    }
  }
}

function keyOf({peer, authorization}: Credentials): string | undefined {
  const fingerprint = peer?.fingerprint
  if (authorization === undefined) return fingerprint
  const hash = createHash('sha256').update(authorization).digest('base64url')
  return `${hash} ${fingerprint ?? ''}`
}
