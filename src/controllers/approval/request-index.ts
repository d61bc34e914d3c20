import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {shareInformer} from '../../client/shared-informer.ts'
import type {HeldObject} from '../../api/meta.ts'
import {EncodedObject} from '../../client/encoded-object.ts'
import {isApproved, isIssued, isOpen} from '../../csr/conditions.ts'
import {callerKeyOf, credentialOf} from '../../csr/user-extra.ts'
import {leafCertificateIn} from '../../csr/read-request.ts'
import {isPermitted} from '../../csr/request-rules.ts'
import {requestedCertificate, type RequestedCertificate} from '../../csr/requested-certificate.ts'
import {SIGNER_RULES, type WellKnownSigner} from '../../csr/signers.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import {pinOf} from '../../pki/pins.ts'
import type {Source} from '../kernel/controller.ts'
import type {ApprovedRequest} from './name-rule.ts'
import type {IssuedIdentity} from './node-record.ts'
import {isLater} from './rejoin-grant.ts'

type Csr = CertificateSigningRequest

/** A request as last seen, parsed once. */
export interface IndexedRequest {
  csr: Csr
  requested: RequestedCertificate | undefined
  issued: IssuedIdentity | undefined
  /** Approved by this process, even if the informer does not show it yet. */
  isApproved: boolean
}

/** What the index holds of it: the request as text. */
interface IndexEntry extends Omit<IndexedRequest, 'csr'> {
  held: HeldObject<Csr>
  uid: string | undefined
  made: Made
  isOpen: boolean
  /** Whether it asks for what its signer signs. */
  isWellFormed: boolean
}

/** Who made a request, and with which credential, if the server has recorded it. */
export interface Maker {
  requester: string
  credential: string | undefined
}

export const makerOf = ({spec}: Pick<Csr, 'spec'>): Maker => ({
  requester: spec.username ?? '',
  credential: credentialOf(spec),
})

/** Who made a request, and its revision when it was first seen: the clocks of several servers differ. */
interface Made extends Maker {
  revision: string
}

const madeOf = ({metadata, spec}: Csr): Made => ({
  ...makerOf({spec}),
  revision: metadata.resourceVersion ?? '',
})

/** The issued certificate; undefined also if it cannot be read. */
function issuedIdentity(csr: Csr): IssuedIdentity | undefined {
  if (!isIssued(csr)) return undefined
  try {
    const certificate = leafCertificateIn(csr.status?.certificate ?? '')
    const {notBefore, notAfter} = certificate
    const {username = ''} = csr.spec
    const isRenewal = certificate.subject.commonName === username
    const requester = isRenewal ? undefined : username
    const issuer = formatName(certificate.issuer)
    const renewedWith = isRenewal
      ? {pin: callerKeyOf(csr), credential: credentialOf(csr.spec)}
      : undefined
    return {pin: pinOf(certificate), notBefore, notAfter, issuer, requester, renewedWith}
  } catch {
    return undefined
  }
}

interface Candidate {
  name: string
  pin: string
  revision: string
}

/** The undecided requests of one requester for one node. It knows the newest without looking at the others. */
class Candidates {
  readonly #byName = new Map<string, Candidate>()
  /** The newest one, and the newest one for another key; undefined if one of them has gone. */
  #newest: Candidate[] | undefined = []

  get size(): number {
    return this.#byName.size
  }

  add(candidate: Candidate): void {
    if (this.#byName.has(candidate.name)) return
    this.#byName.set(candidate.name, candidate)
    if (this.#newest !== undefined) this.#newest = withCandidate(this.#newest, candidate)
  }

  delete(name: string): boolean {
    if (this.#newest?.some((one) => one.name === name)) this.#newest = undefined
    return this.#byName.delete(name)
  }

  /** The newest one that is not for this key. */
  newestBut(pin: string): Candidate | undefined {
    this.#newest ??= [...this.#byName.values()].reduce<Candidate[]>(withCandidate, [])
    return this.#newest.find((one) => one.pin !== pin)
  }
}

function withCandidate(newest: Candidate[], candidate: Candidate): Candidate[] {
  const [first, second] = newest
  if (first === undefined) return [candidate]
  if (isLater(candidate.revision, first.revision)) {
    const other = candidate.pin === first.pin ? second : first
    return other === undefined ? [candidate] : [candidate, other]
  }
  if (candidate.pin === first.pin) return newest
  return second === undefined || isLater(candidate.revision, second.revision)
    ? [first, candidate]
    : newest
}

/**
 * The requests for one signer, by the node that they are for. It includes what this process has approved before the watch
 * reports it. What others approve arrives by watch before any later request.
 */
export class RequestIndex implements Source {
  readonly #csrs: Pick<ApiClient['csrs'], 'list' | 'watch'>
  readonly #signer: WellKnownSigner
  readonly #byName = new Map<string, IndexEntry>()
  readonly #openOf = new Map<string, Set<string>>()
  /** Those of them that a signer would sign, by node and requester. */
  readonly #candidatesOf = new Map<string, Candidates>()
  readonly #approvedOf = new Map<string, Map<string, IndexEntry>>()
  #synced: Promise<void> = Promise.resolve()

  constructor(csrs: Pick<ApiClient['csrs'], 'list' | 'watch'>, signer: WellKnownSigner) {
    this.#csrs = csrs
    this.#signer = signer
  }

  start({signal, enqueue, onError}: Parameters<Source['start']>[0]): ReturnType<Source['start']> {
    const informer = shareInformer(this.#csrs, {
      signal,
      onError,
      onChange: ({key, current, held}) => {
        const wasThere = this.#byName.has(key)
        this.see(key, current, held)
        const isThere = this.#byName.has(key)
        if (!wasThere && !isThere) return
        // An approved request waits for its signer.
        if (!isThere || !current || !isApproved(current) || isIssued(current)) enqueue(key)
      },
    })
    this.#synced = informer.synced
    return informer
  }

  /** Takes the newest state of a request; undefined if it was deleted. */
  see(name: string, current: Csr | undefined, held?: HeldObject<Csr>): void {
    const entry = this.#byName.get(name)
    const isSame = entry !== undefined && entry.uid === current?.metadata.uid
    if (entry !== undefined && !isSame) this.#forget(name, entry)
    // All who follow requests share one watch, whatever the signer.
    if (current?.spec.signerName !== this.#signer) return
    const requested = isSame ? entry.requested : requestedCertificate(current)
    const request: IndexEntry = {
      held: held ?? new EncodedObject(current),
      uid: current.metadata.uid,
      made: isSame ? entry.made : madeOf(current),
      isOpen: isOpen(current),
      requested,
      isWellFormed: isSame
        ? entry.isWellFormed
        : requested !== undefined && isPermitted(requested, SIGNER_RULES[this.#signer]),
      issued: (isSame ? entry.issued : undefined) ?? issuedIdentity(current),
      isApproved:
        isIssued(current) || isApproved(current) || (isSame && entry.isApproved && isOpen(current)),
    }
    this.#byName.set(name, request)
    this.#place(name, request)
  }

  /** This process has approved it. Another one that was made with its name since is not approved. */
  approved({metadata: {name = '', uid}}: Csr): void {
    const entry = this.#byName.get(name)
    if (entry === undefined || entry.uid !== uid) return
    entry.isApproved = true
    this.#place(name, entry)
  }

  /** Waits for the first list, so that "missing" never means "not read yet". */
  async find(name: string): Promise<IndexedRequest | undefined> {
    await this.#synced
    const entry = this.#byName.get(name)
    if (entry === undefined) return undefined
    const {held, requested, issued, isApproved} = entry
    return {csr: held.object, requested, issued, isApproved}
  }

  /** The node that a request asks for. */
  async nodeOf(name: string): Promise<string | undefined> {
    await this.#synced
    return this.#byName.get(name)?.requested?.node
  }

  /** The names of all undecided requests. */
  *open(): Iterable<string> {
    for (const names of this.#openOf.values()) yield* names
  }

  /** The names of the undecided requests for a node. */
  openFor(node: string): Iterable<string> {
    return this.#openOf.get(node) ?? []
  }

  /** The names of the undecided requests for a node if all are for one key; otherwise none. */
  openForOneKey(node: string): string[] {
    const names = [...this.openFor(node)]
    const keys = new Set(names.map((name) => this.#byName.get(name)?.requested?.pin))
    return keys.size === 1 ? names : []
  }

  /**
   * The newest request for a node by the requester of this one, if it is undecided and for another key. One token may have
   * many for one name, and each calls this: the others are not looked at for it.
   */
  newerThan(csr: Csr, {node = '', pin}: RequestedCertificate): string | undefined {
    const {name = '', uid} = csr.metadata
    const entry = this.#byName.get(name)
    const {requester, revision} = entry?.uid === uid && entry ? entry.made : madeOf(csr)
    const newest = this.#candidatesOf.get(candidatesKey(node, requester))?.newestBut(pin)
    return newest && isLater(newest.revision, revision) ? newest.name : undefined
  }

  /** The undecided requests for a node by these requesters that are for another key. */
  rivalsFor(node: string, pin: string, isRival: (maker: Maker) => boolean): string[] {
    return [...this.openFor(node)].filter((name) => {
      const {requested, made, isWellFormed} = this.#byName.get(name) ?? {}
      return isWellFormed && made && isRival(made) && requested?.pin !== pin
    })
  }

  /** The approved requests for a node, except the named one. */
  approvedFor(node: string, except: string): ApprovedRequest[] {
    return [...(this.#approvedOf.get(node) ?? [])]
      .filter(([name]) => name !== except)
      .map(([name, {requested, issued}]) => ({
        name,
        pin: issued?.pin ?? requested?.pin ?? '',
        ...issued,
      }))
  }

  /** What was issued for a node. */
  issuedFor(node: string): IssuedIdentity[] {
    return [...(this.#approvedOf.get(node)?.values() ?? [])].flatMap(({issued}) => issued ?? [])
  }

  #place(name: string, request: IndexEntry): void {
    const {node, pin} = request.requested ?? {}
    if (node === undefined || pin === undefined) return
    const {requester, revision} = request.made
    const key = candidatesKey(node, requester)
    if (request.isOpen && !request.isApproved) {
      this.#openOf.set(node, (this.#openOf.get(node) ?? new Set<string>()).add(name))
      const candidates = this.#candidatesOf.get(key) ?? new Candidates()
      if (request.isWellFormed) {
        candidates.add({name, pin, revision})
        this.#candidatesOf.set(key, candidates)
      }
    } else {
      remove(this.#openOf, node, name)
      remove(this.#candidatesOf, key, name)
    }
    if (request.isApproved) {
      const approved = this.#approvedOf.get(node) ?? new Map<string, IndexEntry>()
      this.#approvedOf.set(node, approved.set(name, request))
    } else remove(this.#approvedOf, node, name)
  }

  #forget(name: string, {requested, made}: IndexEntry): void {
    this.#byName.delete(name)
    if (requested?.node === undefined) return
    remove(this.#openOf, requested.node, name)
    remove(this.#candidatesOf, candidatesKey(requested.node, made.requester), name)
    remove(this.#approvedOf, requested.node, name)
  }
}

const candidatesKey = (node: string, requester: string) => JSON.stringify([node, requester])

function remove(
  groups: Map<string, {delete(name: string): boolean; size: number}>,
  key: string,
  name: string,
): void {
  const group = groups.get(key)
  group?.delete(name)
  if (group?.size === 0) groups.delete(key)
}
