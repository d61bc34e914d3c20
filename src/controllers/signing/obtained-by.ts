import {TOKEN_USER_PREFIX} from '../../bootstrap/read-token-secret.ts'
import {certificateCredential} from '../../csr/user-extra.ts'
import {nodeOfUser} from '../../csr/node-names.ts'
import type {Issuance} from './issuance.ts'
import type {LogEntry} from './log-line.ts'

/** What a machine joins with: a bootstrap token, or a certificate or service-account token with this credential-id. */
export type JoinCredential = {tokenId: string} | {credentialId: string}

/** A certificate that was issued to the holder of a credential, or to a machine that joined with it. */
export interface ObtainedCertificate {
  /** When it was issued. */
  time: string
  /** The node that it is for or that asked for it; absent for any other subject. */
  node?: string
  signer: string
  request: string
  requester: string
  subject: string
  serial: string
  /** The name of its CA as text. */
  issuer?: string
  fingerprint: string
  /** The pin of its key; absent in lines of earlier versions. */
  pin?: string
  notAfter: string
  /** `credential`: requested with the credential itself. `certificate`: with a certificate that was obtained by it, as a renewal is. */
  by: 'credential' | 'certificate'
}

/** Lines of earlier versions have no common name. The whole subject: a part of it could be chosen to look like another node's. */
const NODE_SUBJECT = /^(?:O=system:nodes, )?CN=(system:node:[a-z0-9.-]+)(?:, O=system:nodes)?$/

const nodeIn = ({subject, commonName, requester}: Issuance): string | undefined =>
  nodeOfUser(requester) ?? nodeOfUser(commonName ?? NODE_SUBJECT.exec(subject)?.[1] ?? '')

const isIssued = (entry: LogEntry): entry is LogEntry & Issuance => entry.decision === 'issued'

/**
 * Collects from an issuance log, whose lines it is given in order, which certificates were obtained by a credential: those that were requested with it, and
 * those that were requested with one of these in turn. A node keeps its name, so where an earlier version left out which certificate was used, the name decides.
 */
export class ObtainedCertificates {
  readonly found: ObtainedCertificate[] = []
  readonly #credential: JoinCredential
  /** The credential-ids of the certificates found. */
  readonly #ids = new Set<string>()
  readonly #nodes = new Set<string>()

  constructor(credential: JoinCredential) {
    this.#credential = credential
  }

  readonly see = (entry: LogEntry): void => {
    if (!isIssued(entry)) return
    const by = this.wayOf(entry)
    if (by === undefined) return
    const {time, signer, request, requester, subject} = entry
    const {serial = '', issuer, fingerprint = '', notAfter = '', pin} = entry
    const node = nodeIn(entry)
    this.#ids.add(certificateCredential(fingerprint))
    if (node !== undefined) this.#nodes.add(node)
    this.found.push({
      time,
      ...(node !== undefined && {node}),
      signer,
      request,
      requester,
      subject,
      serial,
      ...(issuer !== undefined && {issuer}),
      fingerprint,
      ...(pin !== undefined && {pin}),
      notAfter,
      by,
    })
  }

  /** By which way a requester came by the credential, according to the lines so far; undefined if not at all. */
  wayOf({
    requester,
    credential,
  }: Pick<Issuance, 'requester' | 'credential'>): ObtainedCertificate['by'] | undefined {
    const wanted = this.#credential
    const isUsed =
      'tokenId' in wanted
        ? requester === `${TOKEN_USER_PREFIX}${wanted.tokenId}`
        : credential === wanted.credentialId
    if (isUsed) return 'credential'
    if (credential !== undefined) return this.#ids.has(credential) ? 'certificate' : undefined
    return this.#nodes.has(nodeOfUser(requester) ?? '') ? 'certificate' : undefined
  }
}
