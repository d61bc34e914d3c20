import {readIssuances} from '../controllers/signing/read-log.ts'
import {nodeOfUser} from '../csr/node-names.ts'
import {lookAt} from '../fs/file-checks.ts'
import type {Clock} from '../runtime.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** Where a server lists what is in its issuance log: the other machines cannot read the file. Allowed to cluster-admin only. */
export const ISSUED_PATH = '/trustadm/issued-certificates'

/** A certificate of the issuance log that has not expired. */
export interface IssuedCertificate {
  user: string
  /** Who asked for it. */
  requester: string
  serial: string
  fingerprint: string
  /** The pin of its key. */
  pin?: string | undefined
  /** The name of its CA as text. */
  issuer?: string | undefined
  issuerFingerprint: string
  notBefore: string
  notAfter: string
}

/** What `ISSUED_PATH` returns. */
export interface IssuedList {
  /** The name of the machine, as the signers call its log. */
  server: string
  certificates: IssuedCertificate[]
  /** How many of each CA are not listed, because there are too many; absent from a server of an earlier version. */
  more?: {issuerFingerprint: string; count: number}[]
  /** When the log began, if there was one before it that was moved away. */
  began?: string
}

/** Whoever has a bootstrap token can get certificates for any number of nodes: they never take the room of others. */
const MOST = {nodes: 20_000, others: 10_000}
const MOST_OF_ONE = 64

/** What has been issued, within limits: what came first stays, so that a flood hides only itself. */
class IssuedCertificates {
  readonly list: IssuedCertificate[] = []
  readonly #counts = new Map<string, number>()
  readonly #total = {nodes: 0, others: 0}
  readonly #more = new Map<string, number>()

  add(one: IssuedCertificate): void {
    const {user, issuerFingerprint} = one
    const kind = nodeOfUser(user) === undefined ? 'others' : 'nodes'
    const count = this.#counts.get(user) ?? 0
    if (count >= MOST_OF_ONE || this.#total[kind] >= MOST[kind]) {
      this.#more.set(issuerFingerprint, (this.#more.get(issuerFingerprint) ?? 0) + 1)
      return
    }
    this.#counts.set(user, count + 1)
    this.#total[kind] += 1
    this.list.push(one)
  }

  get more(): NonNullable<IssuedList['more']> {
    return [...this.#more].map(([issuerFingerprint, count]) => ({issuerFingerprint, count}))
  }
}

/** The certificates in the issuance log of this machine that have not expired, oldest first. */
export async function readIssuedClients(
  plane: Plane,
  {now}: Clock,
  warn: (line: string) => void,
): Promise<IssuedList> {
  const issued = new IssuedCertificates()
  const time = now().getTime()
  let began: string | undefined
  const file = fileOf(plane, 'issuances')
  if (await lookAt(file)) {
    await readIssuances(
      file,
      (entry) => {
        if (entry.decision === 'began') began = entry.time
        if (entry.decision !== 'issued') return
        const {commonName: user, issuerFingerprint, fingerprint, notBefore, notAfter} = entry
        if (user === undefined || issuerFingerprint === undefined || fingerprint === undefined)
          return
        if (notBefore === undefined || notAfter === undefined || Date.parse(notAfter) <= time)
          return
        const {requester, serial = '', pin, issuer} = entry
        const about = {user, requester, serial, fingerprint, pin, issuer, issuerFingerprint}
        issued.add({...about, notBefore, notAfter})
      },
      warn,
    )
  }
  return {
    server: plane.settings.nodeName,
    certificates: issued.list,
    more: issued.more,
    ...(began !== undefined && {began}),
  }
}

/**
 * The same for a server, which is asked every second while a rotation waits: the log is read again only if the file has changed. Commands
 * write to it as well.
 */
export function issuedClientsReader(
  plane: Plane,
  clock: Clock,
  warn: (line: string) => void,
): () => Promise<IssuedList> {
  let last: {state: string; list: Promise<IssuedList>} | undefined
  return async () => {
    const {ino, size, mtimeMs} = (await lookAt(fileOf(plane, 'issuances'))) ?? {}
    const state = `${ino} ${size} ${mtimeMs}`
    if (last?.state !== state) last = {state, list: readIssuedClients(plane, clock, warn)}
    const {list} = last
    try {
      return await list
    } catch (error) {
      last = undefined
      throw error
    }
  }
}
