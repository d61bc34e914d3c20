import {createHash} from 'node:crypto'
import type {DetailedPeerCertificate, TLSSocket} from 'node:tls'
import {MOST_PRESENTED} from '../../pki/client-identity.ts'
import type {PeerCertificates} from '../kernel/api-request.ts'

/** The certificates a caller has shown, read once a connection. */
export class PeerCertificateReader {
  readonly #bySocket = new WeakMap<TLSSocket, PeerCertificates | 'none'>()

  read(socket: TLSSocket): PeerCertificates | undefined {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) return known === 'none' ? undefined : known
    const peer = fromHandshake(socket)
    this.#bySocket.set(socket, peer ?? 'none')
    return peer
  }
}

function fromHandshake(socket: TLSSocket): PeerCertificates | undefined {
  const leaf = socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined
  // An absent certificate is an empty object, or null once the socket is closed.
  if (leaf?.raw === undefined) return undefined
  const chain = chainOf(leaf)
  const hash = createHash('sha256')
  for (const der of chain) hash.update(der)
  return {fingerprint: hash.digest('hex'), chain}
}

/** One more than is accepted, so that too many can be detected. */
function chainOf(leaf: DetailedPeerCertificate): Uint8Array[] {
  const chain: Uint8Array[] = []
  let certificate: DetailedPeerCertificate | undefined = leaf
  while (certificate?.raw !== undefined && chain.length <= MOST_PRESENTED) {
    chain.push(certificate.raw)
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate
    certificate = issuer === certificate ? undefined : issuer
  }
  return chain
}
