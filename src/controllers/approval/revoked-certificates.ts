import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ConfigMap} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {shareInformer} from '../../client/shared-informer.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {
  callerKeyOf,
  certificateFingerprint,
  credentialOf,
  tokenOfCredential,
} from '../../csr/user-extra.ts'
import {verdict, type ApproverOpinion, type RuleVerdict, type Unknown} from '../../csr/opinion.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import {
  issueTime,
  readRevocations,
  type Revocation,
  REVOCATION_NAMES,
  REVOCATION_NAMESPACE,
  RevocationList,
} from '../../trust/revocations.ts'
import type {Source} from '../kernel/controller.ts'
import type {NodeRecord} from './node-record.ts'
import type {PreviousKey} from './previous-key.ts'

/** Why a request is held, or refused by its signer. */
export const REVOKED = 'Revoked'
const RULE = "neither the key nor the requester's certificate is revoked"

const NAMES = new Set(REVOCATION_NAMES)

const isOfList = ({metadata}: ConfigMap): boolean =>
  metadata.namespace === REVOCATION_NAMESPACE && NAMES.has(metadata.name ?? '')

const because = ({reason}: Revocation): string => (reason === undefined ? '' : `: ${reason}`)

/**
 * Why a request must not be granted: it is for a revoked key, or was made with a certificate that is revoked by now. What its holder asked for
 * before must not become valid afterwards.
 */
function whyRevoked(
  list: RevocationList,
  {spec, metadata}: Pick<CertificateSigningRequest, 'spec' | 'metadata'>,
  {pin}: Pick<RequestedCertificate, 'pin'>,
): string | undefined {
  const key = list.findKey(pin)
  if (key) return `its key is revoked${because(key)}`
  const credential = credentialOf(spec) ?? ''
  const used = list.findFingerprint(certificateFingerprint(credential))
  if (used) return `the certificate that it was requested with is revoked${because(used)}`
  // The list may name a key alone, of which nobody has seen a certificate.
  const callerKey = callerKeyOf({spec})
  const keyUsed = callerKey === undefined ? undefined : list.findKey(callerKey)
  if (keyUsed) return `the key that it was requested with is revoked${because(keyUsed)}`
  const made = new Date(metadata.creationTimestamp ?? 0)
  const user = list.findUser(spec.username ?? '', made, callerKey)
  if (user) return `everything that the requester had at that time is revoked${because(user)}`
  const token = list.findToken(tokenOfCredential(credential))
  return token && `the token that it was requested with is revoked${because(token)}`
}

/** Looks up the record of a node's name. */
type FindRecord = (node: string) => Promise<NodeRecord | undefined>

/** A key by which a record knows its node, which may have the name again with it, also from a token. */
interface KnownKey extends Partial<Pick<PreviousKey, 'issuedAt' | 'credential'>> {
  pin: string | undefined
}

const keysOf = ({holder, issuedAt, previous}: NodeRecord): KnownKey[] => [
  {pin: holder, issuedAt},
  // Of an unknown time: before whatever was revoked.
  ...(previous ? [{...previous, issuedAt: previous.issuedAt ?? new Date(0)}] : []),
]

/** The entry that revokes such a key, its certificate, or everything that the node had then. */
const entryOf = (
  list: RevocationList,
  user: string,
  {pin = '', issuedAt, credential = ''}: KnownKey,
): Revocation | undefined =>
  list.findKey(pin) ??
  list.findFingerprint(certificateFingerprint(credential)) ??
  (issuedAt && list.findUser(user, issueTime(issuedAt), pin))

/** The entries that a record of a node's name still needs: an expired certificate does not keep its key from having the name again. */
export const entriesNeededBy = (
  list: RevocationList,
  user: string,
  record: NodeRecord,
): Revocation[] =>
  [...keysOf(record), {pin: record.reserved?.pin}].flatMap((key) => entryOf(list, user, key) ?? [])

async function whyHolderRevoked(
  list: RevocationList,
  {node, commonName, pin}: RequestedCertificate,
  findRecord: FindRecord,
): Promise<string | undefined> {
  if (node === undefined || list.isEmpty) return undefined
  const record = await findRecord(node)
  const known = record && keysOf(record).find((one) => one.pin === pin)
  const found = known && entryOf(list, commonName, known)
  return found && `the certificate that its key has is revoked${because(found)}`
}

export async function revokedRule(
  list: RevocationList,
  csr: Pick<CertificateSigningRequest, 'spec' | 'metadata'>,
  requested: RequestedCertificate,
  findRecord: FindRecord,
): Promise<RuleVerdict> {
  const why =
    whyRevoked(list, csr, requested) ?? (await whyHolderRevoked(list, requested, findRecord))
  return verdict('not-revoked', RULE, why === undefined, why ?? 'neither is revoked')
}

/** Where the caller may not read the list. */
export const unknownRevocation = ({unknown}: Unknown): RuleVerdict =>
  verdict('not-revoked', RULE, false, `not known: ${unknown}`)

/** An approver's opinion with the rule: it approves nothing for a revoked key. */
export function withRevokedRule(opinion: ApproverOpinion, rule: RuleVerdict): ApproverOpinion {
  if (opinion.decision === 'ignore') return opinion
  const rules = [...opinion.rules, rule]
  if (rule.holds || opinion.decision === 'deny') return {...opinion, rules}
  return {...opinion, rules, decision: 'hold', reason: REVOKED}
}

/** Reads the list once. */
export async function readRevocationList(
  {configMaps}: Pick<ApiClient, 'configMaps'>,
  options: CallOptions = {},
): Promise<RevocationList> {
  const list = new RevocationList()
  const namespace = REVOCATION_NAMESPACE
  const objects = await Promise.all(
    REVOCATION_NAMES.map((name) => configMaps.find({namespace, name}, options)),
  )
  for (const [index, object] of objects.entries()) {
    list.set(String(index), readRevocations(object?.data))
  }
  return list
}

/** Where a controller follows the list: the ConfigMaps of a server that has one. */
export type RevocationSource = Pick<ApiClient['configMaps'], 'list' | 'watch'>

/** The list, as approvers and the signer follow it. After a change they look again at all of their requests that wait. */
export class RevokedCertificates implements Source {
  readonly #configMaps: RevocationSource
  readonly #waiting: () => Iterable<string>
  readonly #list = new RevocationList()
  #synced: Promise<void> = Promise.resolve()

  constructor(configMaps: RevocationSource, waiting: () => Iterable<string>) {
    this.#configMaps = configMaps
    this.#waiting = waiting
  }

  start({signal, enqueue, onError}: Parameters<Source['start']>[0]): ReturnType<Source['start']> {
    const informer = shareInformer(this.#configMaps, {
      signal,
      select: {namespace: REVOCATION_NAMESPACE},
      onError,
      onChange: ({key, current, previous}) => {
        const object = current ?? previous
        if (object === undefined || !isOfList(object)) return
        this.#list.set(key, readRevocations(current?.data))
        for (const name of this.#waiting()) enqueue(name)
      },
    })
    this.#synced = informer.synced
    return informer
  }

  /** Why an approver holds a request for a revoked key; undefined if nothing is revoked. */
  async opinionOn(
    approver: string,
    csr: Pick<CertificateSigningRequest, 'spec' | 'metadata'>,
    requested: RequestedCertificate,
    findRecord: FindRecord = () => Promise.resolve(undefined),
  ): Promise<ApproverOpinion | undefined> {
    // "Not revoked" must never mean "not read yet".
    await this.#synced
    const rule = await revokedRule(this.#list, csr, requested, findRecord)
    return rule.holds ? undefined : {approver, decision: 'hold', rules: [rule], reason: REVOKED}
  }

  /** Why the signer refuses a request; undefined if nothing is revoked. */
  async objectionTo(
    csr: Pick<CertificateSigningRequest, 'spec' | 'metadata'>,
    requested: Pick<RequestedCertificate, 'pin'>,
  ): Promise<string | undefined> {
    await this.#synced
    return whyRevoked(this.#list, csr, requested)
  }
}
