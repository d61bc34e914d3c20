/**
 * Where attackers call from, as a rule. What an address may do before anybody has logged in, such as handshakes with unusual keys, is
 * shared by all who call from it.
 */
export const ATTACKERS = '127.0.0.3'
/** Where the honest administrator calls from. */
export const HONEST = '127.0.0.1'

/** Who a request of an attacker comes from: somebody with a certificate, with a token, or nobody. */
export interface Identity {
  name: string
  certificate?: string
  key?: string
  token?: string
  /** Where it calls from, if not from where the other attackers do. */
  address?: string
}

/** All that attackers have: what an installer's token gets them, and a namespace that somebody gave to a tenant. */
export interface Holdings {
  port: number
  /** Of the server. */
  ca: string
  bootstrap: Identity
  /** Certificates that the bootstrap token brought. */
  nodes: Identity[]
  /** A service account that may edit one namespace. */
  tenant: Identity
  namespace: string
  /** Nodes that somebody else has set up. */
  victims: string[]
}

/** How hard an attack goes: so many a second at most, so many at once. */
export interface Rate {
  perSecond: number
  atOnce: number
}

export interface Shot {
  method?: string
  path: string
  body?: string | Uint8Array
  type?: string
  headers?: Record<string, string>
}

export interface Hit {
  status: number
  text: string
}

/** What an attack works with while it runs. */
export interface Field {
  holdings: Holdings
  signal: AbortSignal
  /** Sends a request and counts its answer. */
  shoot(identity: Identity, shot: Shot): Promise<Hit>
  /** Counts something that is no answer to a request: a connection, a frame. */
  count(what: string, times?: number): void
  /** Repeats until the end. What fails is counted by its code. */
  flood(rate: Rate, once: (number: number) => Promise<unknown>): Promise<void>
  /** Something that must never happen has happened. */
  breach(what: string): void
}

/** One way to take the server down or to get in. */
export interface Attack {
  name: string
  /** What it tries, for the reader of the table. */
  aim: string
  /** What takes long to make, before anything begins. */
  prepare?(): Promise<void>
  run(field: Field): Promise<void>
}

export const ANONYMOUS: Identity = {name: 'anonymous'}
