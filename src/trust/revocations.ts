import {createHash} from 'node:crypto'
import {BACKDATE} from '../pki/lifetimes.ts'

export const REVOCATION_NAMESPACE = 'kube-system'

const FIRST_NAME = 'trustadm-revoked-certificates'
/** Each has room for about 2,000 entries. */
const MOST_OBJECTS = 16

/** The ConfigMaps that make up the list, in the order in which they are filled. */
export const REVOCATION_NAMES: readonly string[] = Array.from({length: MOST_OBJECTS}, (_, index) =>
  index === 0 ? FIRST_NAME : `${FIRST_NAME}-${index + 1}`,
)

/**
 * What is revoked: all certificates of a key, one certificate by its serial number and its issuer, everything of a user until a moment, or a bootstrap
 * credential by the key of its CA or the id of its token. A key in a ConfigMap.
 */
export type RevocationId =
  | `key.${string}`
  | `serial.${string}`
  | `user.${string}`
  | `authority.${string}`
  | `token.${string}`

/** What the list says about an entry, for people. Only the id decides what is refused. */
interface RevocationDetails {
  /** The user of the certificate. */
  user?: string
  serial?: string
  /** The hexadecimal SHA-256 of the certificate: requests that were made with it are not approved. */
  fingerprint?: string
  /** The CertificateSigningRequest that it came from. */
  request?: string
  /** When the last certificate expires that the entry is about; the entry is deleted a good day later. Absent: it stays. */
  expires?: string
  revoked?: string
  /** Who revoked it. */
  by?: string
  reason?: string
  /** The keys that an entry for everything of a user leaves alone: their pins without `sha256:`, with spaces between them. */
  spared?: string
  /** The credential-id of a bootstrap credential. */
  credential?: string
  /** The CA of a bootstrap credential and its certificate, as PEM, with which the credential can be accepted again. */
  authority?: string
  certificate?: string
}

export interface Revocation extends RevocationDetails {
  id: RevocationId
}

/** When an entry may go, in milliseconds. */
export const endOf = ({expires}: Pick<Revocation, 'expires'>): number =>
  expires === undefined ? Infinity : Date.parse(expires)

const ID =
  /^(?:(?:key|authority|token)\.[0-9a-f]{64}|user\.[0-9a-f]{32}\.[0-9]{1,11}|serial\.[0-9a-f]{1,64}\.[0-9a-f]{64})$/

const isId = (text: string): text is RevocationId => ID.test(text)

/** The entry for a key, given by its pin. */
export const keyRevocation = (pin: string): RevocationId => `key.${pin.replace(/^sha256:/, '')}`

/** The entry for the CA of a bootstrap credential, given by the pin of its key. */
export const authorityRevocation = (pin: string): RevocationId =>
  `authority.${pin.replace(/^sha256:/, '')}`

/** The entry for a service-account token, given by its `jti`. */
export const tokenRevocation = (id: string): RevocationId =>
  `token.${createHash('sha256').update(id).digest('hex')}`

const hashOfUser = (user: string): string =>
  createHash('sha256').update(user).digest('hex').slice(0, 32)

/** The entry for everything of a user that is older: its certificates, and the requests that it made. One is enough however many there are. */
export const userRevocation = (user: string, until: Date): RevocationId =>
  `user.${hashOfUser(user)}.${Math.floor(until.getTime() / 1000)}`

/** Until when an entry revokes everything of a user; undefined for any other entry. */
export const revokedUntil = (id: RevocationId): Date | undefined =>
  id.startsWith('user.') ? new Date(Number(id.split('.')[2]) * 1000) : undefined

/** When a certificate was issued: signers backdate it. */
export const issueTime = (notBefore: Date): Date => new Date(notBefore.getTime() + BACKDATE)

/** Whether an entry is about a bootstrap credential. */
export const isOfCredential = (id: RevocationId): boolean => /^(?:authority|token)\./.test(id)

/** The pin of the key that an entry is about; undefined for an entry about a single certificate. */
export const revokedPin = (id: RevocationId): string | undefined =>
  id.startsWith('key.') ? `sha256:${id.slice('key.'.length)}` : undefined

/** The serial number that an entry is about; undefined for an entry about a key. */
export const revokedSerial = (id: RevocationId): string | undefined =>
  id.startsWith('serial.') ? id.split('.')[1] : undefined

/** The entry for one certificate. The issuer is the name of its CA as text. Serial numbers are unique only for each CA. */
export const serialRevocation = (serial: string, issuer: string): RevocationId =>
  `serial.${serial}.${createHash('sha256').update(issuer).digest('hex')}`

/** A certificate, by what the list may name. */
interface Revocable {
  pin: string
  serial: string
  /** The name of its CA as text. */
  issuer: string
}

/** The entries that would revoke a certificate. */
export const revocationsOf = ({pin, serial, issuer}: Revocable): readonly RevocationId[] => [
  keyRevocation(pin),
  serialRevocation(serial, issuer),
]

const FIELDS = {
  user: 300,
  serial: 64,
  fingerprint: 64,
  request: 253,
  expires: 40,
  revoked: 40,
  by: 128,
  reason: 256,
  spared: 600,
  credential: 80,
  authority: 8192,
  certificate: 8192,
} as const satisfies Record<keyof RevocationDetails, number>

const FIELD_NAMES = Object.keys(FIELDS) as (keyof RevocationDetails)[]

/** The longest reason that an entry has room for. */
export const LONGEST_REASON = FIELDS.reason

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text))

/** An entry as the ConfigMap holds it. Values that are too long are cut. */
export function encodeRevocation({id, ...details}: Revocation): [id: string, value: string] {
  const fields = FIELD_NAMES.flatMap((name) => {
    const text = details[name]
    return text === undefined ? [] : [[name, text.slice(0, FIELDS[name])]]
  })
  return [id, JSON.stringify(Object.fromEntries(fields))]
}

function readDetails(value: string): RevocationDetails | undefined {
  try {
    const fields: unknown = JSON.parse(value)
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined
    const known = Object.entries(fields).filter(([name]) => name in FIELDS)
    if (known.some(([, text]) => typeof text !== 'string')) return undefined
    const details = Object.fromEntries(known) as RevocationDetails
    const times = [details.expires, details.revoked].filter((time) => time !== undefined)
    return times.every(isTime) ? details : undefined
  } catch {
    return undefined
  }
}

/** What a ConfigMap of the list says, and what is wrong with it. */
export interface ReadRevocations {
  revocations: Revocation[]
  /** The keys in the ConfigMap that name neither a key nor a serial number: these revoke nothing. */
  unknown: string[]
  /** Entries that are in force, but whose details cannot be read: these never expire. */
  unreadable: RevocationId[]
}

/**
 * Reads a ConfigMap of the list, which people may have edited. An entry is in force even if its details are unreadable, and a bad
 * entry never affects the others.
 */
export function readRevocations(data: Readonly<Record<string, string>> = {}): ReadRevocations {
  const read: ReadRevocations = {revocations: [], unknown: [], unreadable: []}
  for (const [id, value] of Object.entries(data)) {
    if (!isId(id)) {
      read.unknown.push(id)
      continue
    }
    const details = readDetails(value)
    if (details === undefined) read.unreadable.push(id)
    read.revocations.push({id, ...details})
  }
  return read
}

/** The revoked certificates in memory. Each ConfigMap of the list is replaced as a whole. */
export class RevocationList {
  readonly #byObject = new Map<string, ReadonlyMap<string, Revocation>>()
  /** The entries for everything of a user, by the ConfigMap and the hash of the user. */
  readonly #users = new Map<string, ReadonlyMap<string, readonly Revocation[]>>()

  /** Returns whether it revokes something that the ConfigMap did not revoke before. */
  set(object: string, {revocations}: Pick<ReadRevocations, 'revocations'>): boolean {
    const before = this.#byObject.get(object)
    const entries = new Map<string, Revocation>()
    const users = new Map<string, Revocation[]>()
    for (const revocation of revocations) {
      entries.set(revocation.id, revocation)
      const [kind, hash = ''] = revocation.id.split('.')
      if (kind === 'user') users.set(hash, [...(users.get(hash) ?? []), revocation])
      const {fingerprint} = revocation
      if (fingerprint !== undefined) entries.set(byFingerprint(fingerprint), revocation)
    }
    if (entries.size === 0) this.#byObject.delete(object)
    else this.#byObject.set(object, entries)
    if (users.size === 0) this.#users.delete(object)
    else this.#users.set(object, users)
    return revocations.some(({id}) => !before?.has(id))
  }

  delete(object: string): void {
    this.#byObject.delete(object)
    this.#users.delete(object)
  }

  get isEmpty(): boolean {
    return this.#byObject.size === 0
  }

  /** The entry that revokes what a user had at a time: a certificate when it was issued, or a request. `pin`: the key that belongs to it. */
  findUser(user: string, at: Date, pin = ''): Revocation | undefined {
    if (this.#users.size === 0) return undefined
    const hash = hashOfUser(user)
    const key = pin.replace(/^sha256:/, '')
    for (const users of this.#users.values()) {
      for (const one of users.get(hash) ?? []) {
        const isSpared = key !== '' && one.spared?.split(' ').includes(key)
        if (at <= (revokedUntil(one.id) ?? 0) && !isSpared) return one
      }
    }
    return undefined
  }

  /** The first of these that is on the list. */
  find(ids: readonly RevocationId[]): Revocation | undefined {
    return this.#first(ids)
  }

  findKey(pin: string): Revocation | undefined {
    return this.#first([keyRevocation(pin)])
  }

  /** The entry that was made for the certificate with this fingerprint. */
  findFingerprint(fingerprint: string | undefined): Revocation | undefined {
    return fingerprint === undefined ? undefined : this.#first([byFingerprint(fingerprint)])
  }

  /** The entry for the token with this `jti`. */
  findToken(id: string | undefined): Revocation | undefined {
    if (id === undefined || this.#byObject.size === 0) return undefined
    return this.#first([tokenRevocation(id)])
  }

  /** Every request with a certificate comes here: an empty list costs nothing. */
  #first(keys: readonly string[]): Revocation | undefined {
    for (const entries of this.#byObject.values()) {
      for (const key of keys) {
        const found = entries.get(key)
        if (found !== undefined) return found
      }
    }
    return undefined
  }
}

const byFingerprint = (fingerprint: string): string => `fingerprint.${fingerprint}`
