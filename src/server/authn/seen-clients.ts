import {nodeOfUser} from '../../csr/node-names.ts'

/** A client certificate or a token that authenticated, and by whom it was last used. */
interface SeenClient {
  /** Of the public key that the certificate or token depends on, in the form of a discovery pin. */
  issuerPin: string
  user: string
  groups: string[]
  /** Empty for tokens. */
  serial: string
  /** Of a token: the pod that it is bound to. All tokens of one pod are one entry for each key. */
  holder?: string
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

export interface SeenList<Client = StoredClient> {
  /** How many valid ones were forgotten because there were too many. */
  dropped: number
  /** The same for each issuer. */
  forgotten: Forgotten[]
  /** The last seen first. */
  clients: Client[]
}

/** An entry with what identifies it: of a certificate, its SHA-256 fingerprint. */
export type StoredClient = {fingerprint: string} & SeenClient

/** A Node that was deleted: its machine is gone, unless it was seen since. */
export interface DeletedNode {
  name: string
  time: string
}

/** What `/trustadm/seen-clients` returns, and what is kept in a file. */
export interface SeenClientList extends SeenList {
  /** From when on clients are remembered. */
  since: string
  /** The same for tokens of service accounts. */
  tokens: SeenList
  /** The Nodes that were deleted last, each once; absent from a server of an earlier version. */
  deletedNodes?: DeletedNode[]
}

/** A certificate whose chain was checked, or a token whose signature was. */
export interface SeenCertificate {
  fingerprint: string
  issuerPin: string
  serial: string
  holder?: string | undefined
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
/** Of one user, pods aside: whoever gets many certificates or tokens pushes out only their own. */
const MOST_OF_ONE = 64
/** Issuers of which clients were forgotten; CAs are few. */
const MOST_ISSUERS = 64
/** In characters. */
const LONGEST = {user: 320, group: 128, userAgent: 128, address: 64, holder: 380}
const MOST_GROUPS = 16

/** Copied: a slice would keep the whole text in memory. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : Buffer.from(text.slice(0, length)).toString()

/** A node that was seen for longer than this did not come with a flood of new ones. */
const SETTLED = 3_600_000

/**
 * Whoever has a bootstrap token can get certificates for any number of new nodes, but for nobody else. So new nodes, settled nodes and all
 * others each have a share that the groups before it in this list cannot take.
 */
const SHARES = {newcomers: 1 / 8, nodes: 5 / 8, others: 1 / 4}
type Tier = keyof typeof SHARES
const TIERS: readonly Tier[] = ['newcomers', 'nodes', 'others']

const tierOf = ({
  user,
  firstSeen,
  lastSeen,
}: Pick<Entry, 'user' | 'firstSeen' | 'lastSeen'>): Tier =>
  nodeOfUser(user) === undefined ? 'others' : lastSeen - firstSeen < SETTLED ? 'newcomers' : 'nodes'

/**
 * Remembers which client certificates are in use, so that a CA is not withdrawn while somebody depends on it. Every request with a
 * certificate comes here: one that is known costs a look-up. Callers in the same process have no certificate, so they are not here.
 */
export class SeenClients {
  /** By the certificate's fingerprint, the least recently seen first. */
  readonly #tiers: Readonly<Record<Tier, Map<string, Entry>>> = {
    newcomers: new Map(),
    nodes: new Map(),
    others: new Map(),
  }
  /** How many each user has, without pods: many of them may share an account. */
  readonly #counts = new Map<string, number>()
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
    const {fingerprint, issuerPin, serial, holder, notAfter} = certificate
    const entry = this.#find(fingerprint)
    if (entry?.issuerPin === issuerPin) {
      this.#tiers[tierOf(entry)].delete(fingerprint)
      entry.lastSeen = now.getTime()
      // A token may end before an earlier one of the same pod does.
      entry.notAfter = Math.max(entry.notAfter, notAfter.getTime())
      entry.userAgent = cut(userAgent, LONGEST.userAgent)
      entry.address = cut(remoteAddress, LONGEST.address)
      this.#tiers[tierOf(entry)].set(fingerprint, entry)
      return
    }
    const added = {
      issuerPin,
      user: cut(name, LONGEST.user),
      groups: groups.slice(0, MOST_GROUPS).map((group) => cut(group, LONGEST.group)),
      serial,
      ...(holder !== undefined && {holder: cut(holder, LONGEST.holder)}),
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
  restore({dropped, forgotten, clients}: SeenList): void {
    this.#dropped += dropped
    for (const {issuerPin, count, lastSeen} of forgotten)
      this.#forget(issuerPin, count, Date.parse(lastSeen))
    for (const client of clients.toReversed()) this.restoreOne(client)
  }

  /** Adds one that an earlier process saw, unless it is known with a later time. */
  restoreOne({fingerprint, ...client}: StoredClient): void {
    const lastSeen = Date.parse(client.lastSeen)
    if ((this.#find(fingerprint)?.lastSeen ?? -Infinity) >= lastSeen) return
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
    for (const [, entry] of this.#entries()) last = Math.max(last, entry.lastSeen)
    return last
  }

  /** Everything that is remembered, the last seen first. */
  list(): SeenList {
    const clients = [...this.#entries()]
      .sort(([, one], [, other]) => other.lastSeen - one.lastSeen)
      .map(([fingerprint, entry]) => ({fingerprint, ...shown(entry)}))
    const forgotten = [...this.#forgotten].map(([issuerPin, {count, lastSeen}]) => ({
      issuerPin,
      count,
      lastSeen: new Date(lastSeen).toISOString(),
    }))
    return {dropped: this.#dropped, forgotten, clients}
  }

  *#entries(): Generator<[string, Entry]> {
    for (const tier of TIERS) yield* this.#tiers[tier]
  }

  #find(fingerprint: string): Entry | undefined {
    const {newcomers, nodes, others} = this.#tiers
    return others.get(fingerprint) ?? nodes.get(fingerprint) ?? newcomers.get(fingerprint)
  }

  get #size(): number {
    const {newcomers, nodes, others} = this.#tiers
    return newcomers.size + nodes.size + others.size
  }

  #add(fingerprint: string, entry: Entry): void {
    this.#tiers[tierOf(entry)].set(fingerprint, entry)
    this.#count(entry, 1)
  }

  #take(fingerprint: string, entry: Entry): void {
    this.#tiers[tierOf(entry)].delete(fingerprint)
    this.#count(entry, -1)
  }

  #count({user, holder}: Entry, change: 1 | -1): void {
    if (holder !== undefined) return
    const count = (this.#counts.get(user) ?? 0) + change
    if (count > 0) this.#counts.set(user, count)
    else this.#counts.delete(user)
  }

  #put(fingerprint: string, entry: Entry): void {
    const before = this.#find(fingerprint)
    if (before) this.#take(fingerprint, before)
    else this.#makeRoom(entry)
    this.#add(fingerprint, entry)
    this.#added += 1
  }

  /** What has expired goes first, all at once and uncounted: nobody can depend on it. That is looked for only from time to time. */
  #makeRoom(added: Entry): void {
    const isOneTooMany = (this.#counts.get(added.user) ?? 0) >= MOST_OF_ONE
    if (isOneTooMany && added.holder === undefined) this.#makeRoomFor(added)
    if (this.#size < this.#limit) return
    if (this.#added - this.#sweptAt >= this.#limit / 16) {
      this.#sweptAt = this.#added
      for (const [fingerprint, entry] of this.#entries())
        if (entry.notAfter < added.lastSeen) this.#take(fingerprint, entry)
    }
    if (this.#size < this.#limit) return
    const isOver = (tier: Tier) => this.#tiers[tier].size > SHARES[tier] * this.#limit
    const full = TIERS.find(isOver) ?? TIERS.find((tier) => this.#tiers[tier].size > 0)
    for (const [fingerprint, entry] of full ? this.#tiers[full] : [])
      return this.#drop(fingerprint, entry)
  }

  /** The same among the certificates of one user. */
  #makeRoomFor({user, lastSeen: now}: Entry): void {
    let oldest: [string, Entry] | undefined
    for (const found of this.#entries()) {
      const [fingerprint, entry] = found
      if (entry.user !== user || entry.holder !== undefined) continue
      if (entry.notAfter < now) this.#take(fingerprint, entry)
      else if (entry.lastSeen < (oldest?.[1].lastSeen ?? Infinity)) oldest = found
    }
    if (oldest && (this.#counts.get(user) ?? 0) >= MOST_OF_ONE) this.#drop(...oldest)
  }

  #drop(fingerprint: string, entry: Entry): void {
    this.#take(fingerprint, entry)
    this.#dropped += 1
    this.#forget(entry.issuerPin, 1, entry.lastSeen)
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
