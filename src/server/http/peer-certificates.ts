import {createHash} from 'node:crypto'
import type {DetailedPeerCertificate, TLSSocket} from 'node:tls'
import type {PeerCertificates} from '../api-request.ts'

const MAX_CHAIN = 8
const MAX_REMEMBERED = 1024

/**
 * The certificates a caller has shown, read once a connection. A resumed TLS session brings the leaf but not its
 * intermediates, so chains seen in full handshakes are remembered by their leaf.
 */
export class PeerCertificateReader {
  readonly #bySocket = new WeakMap<TLSSocket, PeerCertificates | 'none'>()
  readonly #chains = new Map<string, PeerCertificates>()

  read(socket: TLSSocket): PeerCertificates | undefined {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) return known === 'none' ? undefined : known
    const peer = this.#fromHandshake(socket)
    this.#bySocket.set(socket, peer ?? 'none')
    return peer
  }

  #fromHandshake(socket: TLSSocket): PeerCertificates | undefined {
    const leaf = socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined
    // An absent certificate is an empty object, or null once the socket is closed.
    if (leaf?.raw === undefined) return undefined
    const chain = chainOf(leaf)
    const fingerprint = createHash('sha256').update(leaf.raw).digest('hex')
    if (chain.length === 1) return this.#chains.get(fingerprint) ?? {fingerprint, chain}
    const peer = {fingerprint, chain}
    if (this.#chains.size >= MAX_REMEMBERED) {
      const [oldest] = this.#chains.keys()
      if (oldest !== undefined) this.#chains.delete(oldest)
    }
    this.#chains.set(fingerprint, peer)
    return peer
  }
}

function chainOf(leaf: DetailedPeerCertificate): Uint8Array[] {
  const chain: Uint8Array[] = []
  let certificate: DetailedPeerCertificate | undefined = leaf
  while (certificate?.raw !== undefined && chain.length < MAX_CHAIN) {
    chain.push(certificate.raw)
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate
    certificate = issuer === certificate ? undefined : issuer
  }
  return chain
}
