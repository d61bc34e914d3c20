import type {CertificateSigningRequest} from '../api/certificates.ts'

/** A line of an issuance log. Whoever has it can tell later whether the line is still there. */
export interface LogHead {
  /** Which log: the hash of its first line. */
  chain: string
  /** Where the line ends, in bytes from the start of the log. */
  size: number
  /** Of the line. */
  hash: string
}

/** A head as the signer gives it to a node. The seal shows the signer that the node has not made it up. */
export interface SealedHead extends LogHead {
  seal: string
}

/** The newest head when a certificate was issued: the signer writes it to the request, together with the certificate. */
const GIVEN = 'trustadm.io/issuance-head'
/** The head that a node got with its last certificate: it hands it in with its next request. */
const WITNESSED = 'trustadm.io/witnessed-head'

const FORM = /^([0-9a-f]{64}):(\d{1,15}):([0-9a-f]{64}):([0-9a-f]{32})$/
const UNSEALED = /^([0-9a-f]{64}):(\d{1,15}):([0-9a-f]{64})$/

export const formatHead = ({chain, size, hash}: LogHead): string => `${chain}:${size}:${hash}`

export const formatSealed = (head: SealedHead): string => `${formatHead(head)}:${head.seal}`

/** Undefined for anything else: nodes and files may contain whatever they like. */
export function parseSealed(text: string | undefined): SealedHead | undefined {
  const [, chain, size, hash, seal] = FORM.exec(text ?? '') ?? []
  if (chain === undefined || hash === undefined || seal === undefined) return undefined
  return {chain, size: Number(size), hash, seal}
}

/** A head, sealed or not; undefined for anything else. */
export function parseHead(text: string): LogHead | undefined {
  const [, chain, size, hash] = UNSEALED.exec(text) ?? FORM.exec(text) ?? []
  if (chain === undefined || hash === undefined) return undefined
  return {chain, size: Number(size), hash}
}

type Csr = Pick<CertificateSigningRequest, 'metadata'>

/** What the signer has given with the certificate. */
export const givenHead = ({metadata}: Csr): SealedHead | undefined =>
  parseSealed(metadata.annotations?.[GIVEN])

/** What the requester has handed in: undefined if nothing, or if it is not a head. */
export const witnessedHead = ({metadata}: Csr): SealedHead | undefined =>
  parseSealed(metadata.annotations?.[WITNESSED])

/** Whether something was handed in, head or not. */
export const isWitness = ({metadata}: Csr): boolean =>
  metadata.annotations?.[WITNESSED] !== undefined

/** Far below what a server accepts, and more than any node needs. */
const MOST_ANNOTATIONS = 32
const LARGEST_ANNOTATIONS = 16 * 1024

function hasRoom({metadata: {annotations = {}}}: Csr): boolean {
  const entries = Object.entries(annotations)
  if (entries.length > MOST_ANNOTATIONS) return false
  const sizes = entries.map(([name, value]) => Buffer.byteLength(name) + Buffer.byteLength(value))
  return sizes.reduce((sum, size) => sum + size, 0) <= LARGEST_ANNOTATIONS
}

/**
 * A request with the head that is given with its certificate. A request that its owner has filled with annotations gets none: one
 * more could be too many for the server, and then the certificate could not be written either.
 */
export const withGiven = <Request extends Csr>(csr: Request, head: string | undefined): Request =>
  head === undefined || !hasRoom(csr) ? csr : withAnnotation(csr, GIVEN, head)

/** A request with the head that a node hands in. */
export const withWitnessed = <Request extends Csr>(
  csr: Request,
  head: SealedHead | undefined,
): Request => (head === undefined ? csr : withAnnotation(csr, WITNESSED, formatSealed(head)))

const withAnnotation = <Request extends Csr>(
  csr: Request,
  name: string,
  value: string,
): Request => ({
  ...csr,
  metadata: {...csr.metadata, annotations: {...csr.metadata.annotations, [name]: value}},
})
