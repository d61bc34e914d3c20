/** A client certificate that authenticated, and by whom it was last used. */
export interface SeenClient {
  /** Of the trusted CA's public key that the certificate depends on, in the form of a discovery pin. */
  issuerPin: string
  user: string
  groups: string[]
  serial: string
  /** Of the last request. */
  userAgent: string
  address: string
  firstSeen: string
  lastSeen: string
  notAfter: string
}

/** What `/trustadm/seen-clients` returns. */
export interface SeenClientList {
  /** From when on clients are remembered. */
  since: string
  /** How many valid certificates were forgotten because there were too many. */
  dropped: number
  /** The last seen first. */
  clients: SeenClient[]
}

/** The same with each certificate's SHA-256 fingerprint, as it is kept in a file. */
export interface StoredClients extends Omit<SeenClientList, 'clients'> {
  clients: ({fingerprint: string} & SeenClient)[]
}

/** A certificate whose chain was checked. */
export interface SeenCertificate {
  fingerprint: string
  issuerPin: string
  serial: string
  notAfter: Date
}

export interface SeenCall {
  now: Date
  userAgent: string
  remoteAddress: string
}

/** Times in milliseconds: formatting them for every request would cost more than the rest. */
interface Entry extends Omit<SeenClient, 'firstSeen' | 'lastSeen' | 'notAfter'> {
  firstSeen: number
  lastSeen: number
  notAfter: number
}

const MOST_CLIENTS = 4096
/** In characters. */
const LONGEST = {user: 320, group: 128, userAgent: 128, address: 64}
const MOST_GROUPS = 16

/** Copied: a slice would keep the whole text in memory. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : Buffer.from(text.slice(0, length)).toString()

/**
 * Remembers which client certificates are in use, so that a CA is not withdrawn while somebody depends on it. Every request with a
 * certificate comes here: one that is known costs a look-up. Callers in the same process have no certificate, so they are not here.
 */
export class SeenClients {
  /** By the certificate's fingerprint. */
  readonly #entries = new Map<string, Entry>()
  readonly #limit: number
  readonly #since: string
  #dropped = 0
  #added = 0

  constructor(since: Date, limit = MOST_CLIENTS) {
    this.#since = since.toISOString()
    this.#limit = limit
  }

  note(
    {name, groups}: {name: string; groups: readonly string[]},
    certificate: SeenCertificate,
    {now, userAgent, remoteAddress}: SeenCall,
  ): void {
    const entry = this.#entries.get(certificate.fingerprint)
    if (entry?.issuerPin === certificate.issuerPin) {
      entry.lastSeen = now.getTime()
      entry.userAgent = cut(userAgent, LONGEST.userAgent)
      entry.address = cut(remoteAddress, LONGEST.address)
      return
    }
    const {fingerprint, issuerPin, serial, notAfter} = certificate
    this.#put(fingerprint, {
      issuerPin,
      user: cut(name, LONGEST.user),
      groups: groups.slice(0, MOST_GROUPS).map((group) => cut(group, LONGEST.group)),
      serial,
      userAgent: cut(userAgent, LONGEST.userAgent),
      address: cut(remoteAddress, LONGEST.address),
      firstSeen: entry?.firstSeen ?? now.getTime(),
      lastSeen: now.getTime(),
      notAfter: notAfter.getTime(),
    })
  }

  /** Adds what an earlier process remembered. */
  restore({dropped, clients}: StoredClients): void {
    this.#dropped += dropped
    for (const {fingerprint, ...client} of clients) {
      this.#put(fingerprint, {
        ...client,
        firstSeen: Date.parse(client.firstSeen),
        lastSeen: Date.parse(client.lastSeen),
        notAfter: Date.parse(client.notAfter),
      })
    }
  }

  /** Grows with every certificate that is new here. */
  get added(): number {
    return this.#added
  }

  /** The time of the last request, in milliseconds; 0 if there was none. */
  get lastSeen(): number {
    let last = 0
    for (const entry of this.#entries.values()) last = Math.max(last, entry.lastSeen)
    return last
  }

  list(): SeenClientList {
    const {clients, ...rest} = this.stored()
    return {...rest, clients: clients.map(({fingerprint: _, ...client}) => client)}
  }

  stored(): StoredClients {
    const clients = [...this.#entries]
      .sort(([, one], [, other]) => other.lastSeen - one.lastSeen)
      .map(([fingerprint, entry]) => ({fingerprint, ...shown(entry)}))
    return {since: this.#since, dropped: this.#dropped, clients}
  }

  #put(fingerprint: string, entry: Entry): void {
    if (this.#entries.size >= this.#limit && !this.#entries.has(fingerprint)) {
      this.#makeRoom(entry.lastSeen)
    }
    this.#entries.set(fingerprint, entry)
    this.#added += 1
  }

  /** Expired certificates go first, all at once and uncounted: nobody can depend on them. */
  #makeRoom(now: number): void {
    let oldest: {fingerprint: string; lastSeen: number} | undefined
    for (const [fingerprint, {lastSeen, notAfter}] of this.#entries) {
      if (notAfter < now) this.#entries.delete(fingerprint)
      else if (oldest === undefined || lastSeen < oldest.lastSeen) oldest = {fingerprint, lastSeen}
    }
    if (this.#entries.size < this.#limit || oldest === undefined) return
    this.#entries.delete(oldest.fingerprint)
    this.#dropped += 1
  }
}

const shown = ({firstSeen, lastSeen, notAfter, ...rest}: Entry): SeenClient => ({
  ...rest,
  firstSeen: new Date(firstSeen).toISOString(),
  lastSeen: new Date(lastSeen).toISOString(),
  notAfter: new Date(notAfter).toISOString(),
})
