/** A client certificate or a token that authenticated, and by whom it was last used. */
export interface SeenClient {
  /** Of the public key that the certificate or token depends on, in the form of a discovery pin. */
  issuerPin: string
  user: string
  groups: string[]
  /** Empty for tokens. */
  serial: string
  /** Of the last request. */
  userAgent: string
  address: string
  firstSeen: string
  lastSeen: string
  notAfter: string
}

/** Valid certificates or tokens of one issuer that were forgotten because there were too many. */
export interface Forgotten {
  /** Empty if it is not known any more. */
  issuerPin: string
  count: number
  /** When the last of them was seen. */
  lastSeen: string
}

export interface SeenList<Client = SeenClient> {
  /** How many valid ones were forgotten because there were too many. */
  dropped: number
  /** The same for each issuer. */
  forgotten: Forgotten[]
  /** The last seen first. */
  clients: Client[]
}

/** An entry as it is kept in a file, with what identifies it: of a certificate, its SHA-256 fingerprint. */
export type StoredClient = {fingerprint: string} & SeenClient

/** What `/trustadm/seen-clients` returns. */
export interface SeenClientList extends SeenList {
  /** From when on clients are remembered. */
  since: string
  /** The same for tokens of service accounts. */
  tokens: SeenList
}

/** The same as it is kept in a file. */
export interface StoredClients extends SeenList<StoredClient> {
  since: string
  tokens: SeenList<StoredClient>
}

/** A certificate whose chain was checked, or a token whose signature was. */
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

/** Enough for the certificates of 5,000 nodes of both CAs, as in a rotation. */
const MOST_CLIENTS = 16_384
/** Issuers of which clients were forgotten; CAs are few. */
const MOST_ISSUERS = 64
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
  /** By the certificate's fingerprint, the least recently seen first. */
  readonly #entries = new Map<string, Entry>()
  readonly #forgotten = new Map<string, {count: number; lastSeen: number}>()
  readonly #limit: number
  #dropped = 0
  #added = 0
  #sweptAt = -Infinity

  /** Called with each certificate that is new here. */
  onAdded: ((client: StoredClient) => void) | undefined

  constructor(limit = MOST_CLIENTS) {
    this.#limit = limit
  }

  note(
    {name, groups}: {name: string; groups: readonly string[]},
    certificate: SeenCertificate,
    {now, userAgent, remoteAddress}: SeenCall,
  ): void {
    const {fingerprint, issuerPin, serial, notAfter} = certificate
    const entry = this.#entries.get(fingerprint)
    if (entry?.issuerPin === issuerPin) {
      entry.lastSeen = now.getTime()
      entry.notAfter = notAfter.getTime()
      entry.userAgent = cut(userAgent, LONGEST.userAgent)
      entry.address = cut(remoteAddress, LONGEST.address)
      this.#entries.delete(fingerprint)
      this.#entries.set(fingerprint, entry)
      return
    }
    const added = {
      issuerPin,
      user: cut(name, LONGEST.user),
      groups: groups.slice(0, MOST_GROUPS).map((group) => cut(group, LONGEST.group)),
      serial,
      userAgent: cut(userAgent, LONGEST.userAgent),
      address: cut(remoteAddress, LONGEST.address),
      firstSeen: entry?.firstSeen ?? now.getTime(),
      lastSeen: now.getTime(),
      notAfter: notAfter.getTime(),
    }
    this.#put(fingerprint, added)
    this.onAdded?.({fingerprint, ...shown(added)})
  }

  /** Adds what an earlier process remembered. */
  restore({dropped, forgotten, clients}: SeenList<StoredClient>): void {
    this.#dropped += dropped
    for (const {issuerPin, count, lastSeen} of forgotten)
      this.#forget(issuerPin, count, Date.parse(lastSeen))
    for (const client of clients.toReversed()) this.restoreOne(client)
  }

  /** Adds one that an earlier process saw, unless it is known with a later time. */
  restoreOne({fingerprint, ...client}: StoredClient): void {
    const lastSeen = Date.parse(client.lastSeen)
    if ((this.#entries.get(fingerprint)?.lastSeen ?? -Infinity) >= lastSeen) return
    this.#put(fingerprint, {
      ...client,
      firstSeen: Date.parse(client.firstSeen),
      lastSeen,
      notAfter: Date.parse(client.notAfter),
    })
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

  list(): SeenList {
    const {clients, ...rest} = this.stored()
    return {...rest, clients: clients.map(({fingerprint: _, ...client}) => client)}
  }

  stored(): SeenList<StoredClient> {
    const clients = [...this.#entries]
      .sort(([, one], [, other]) => other.lastSeen - one.lastSeen)
      .map(([fingerprint, entry]) => ({fingerprint, ...shown(entry)}))
    const forgotten = [...this.#forgotten].map(([issuerPin, {count, lastSeen}]) => ({
      issuerPin,
      count,
      lastSeen: new Date(lastSeen).toISOString(),
    }))
    return {dropped: this.#dropped, forgotten, clients}
  }

  #put(fingerprint: string, entry: Entry): void {
    if (this.#entries.size >= this.#limit && !this.#entries.has(fingerprint)) {
      this.#makeRoom(entry)
    }
    this.#entries.delete(fingerprint)
    this.#entries.set(fingerprint, entry)
    this.#added += 1
  }

  /** What nobody can depend on goes first, all at once and uncounted. That is looked for only from time to time. */
  #makeRoom(added: Entry): void {
    if (this.#added - this.#sweptAt >= this.#limit / 16) {
      this.#sweptAt = this.#added
      this.#sweep(added)
    }
    if (this.#entries.size < this.#limit) return
    for (const [fingerprint, {issuerPin, lastSeen}] of this.#entries) {
      this.#entries.delete(fingerprint)
      this.#dropped += 1
      this.#forget(issuerPin, 1, lastSeen)
      return
    }
  }

  /** Removes what has expired, and what its user has replaced: the same program on the same machine came back with another one. */
  #sweep(added: Entry): void {
    const keyOf = ({user, address, userAgent}: Entry) => `${user}\n${address}\n${userAgent}`
    const newest = new Map([[keyOf(added), added.lastSeen]])
    for (const entry of this.#entries.values())
      newest.set(keyOf(entry), Math.max(newest.get(keyOf(entry)) ?? 0, entry.lastSeen))
    for (const [fingerprint, entry] of this.#entries) {
      const isReplaced = entry.lastSeen < (newest.get(keyOf(entry)) ?? 0)
      if (entry.notAfter < added.lastSeen || isReplaced) this.#entries.delete(fingerprint)
    }
  }

  #forget(issuerPin: string, count: number, lastSeen: number): void {
    const isKnown = this.#forgotten.has(issuerPin) || this.#forgotten.size < MOST_ISSUERS
    const key = isKnown ? issuerPin : ''
    const before = this.#forgotten.get(key) ?? {count: 0, lastSeen: -Infinity}
    this.#forgotten.set(key, {
      count: before.count + count,
      lastSeen: Math.max(before.lastSeen, lastSeen),
    })
  }
}

const shown = ({firstSeen, lastSeen, notAfter, ...rest}: Entry): SeenClient => ({
  ...rest,
  firstSeen: new Date(firstSeen).toISOString(),
  lastSeen: new Date(lastSeen).toISOString(),
  notAfter: new Date(notAfter).toISOString(),
})
