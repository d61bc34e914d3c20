import {isIP, type Socket} from 'node:net'
import {type DetailedPeerCertificate, type PeerCertificate, TLSSocket} from 'node:tls'
import {buildConnector} from 'undici'
import {systemCode} from '../errors.ts'
import {problemOfServer, type ServerProblem} from '../pki/server-identity.ts'
import {type Environment, hostOf} from './proxy-rules.ts'
import type {ServerAccess} from './server-access.ts'
import {openTunnel, proxyOf} from './tunnel.ts'

const LONGEST_CHAIN = 16

/** Error codes like those of OpenSSL. */
const CODES: Record<ServerProblem, string> = {
  host: 'ERR_TLS_CERT_ALTNAME_INVALID',
  root: 'INVALID_CA',
  'root key': 'CA_KEY_UNSUPPORTED',
  'constrained name': 'NAME_UNSUPPORTED',
  unreadable: 'CERT_UNREADABLE',
}

/** For TLS connections: whether a chain that OpenSSL accepted is for the host, and would be accepted by Go too. */
function checkServer(host: string, certificate: PeerCertificate): Error | undefined {
  const problem = problemOfServer(chainOf(certificate as DetailedPeerCertificate), host)
  if (problem === undefined) return undefined
  const message = certificate.subjectaltname
    ? `its certificate is not accepted (${problem})`
    : 'it has no subject alternative names'
  return Object.assign(new Error(message), {code: CODES[problem], host, cert: certificate})
}

/** The certificates of a chain as DER, from the peer's own to the root. */
export function chainOf(first: DetailedPeerCertificate): Buffer[] {
  const chain: Buffer[] = []
  let next: DetailedPeerCertificate | undefined = first
  while (next?.raw && chain.length < LONGEST_CHAIN) {
    chain.push(next.raw)
    // The last one names itself as its issuer.
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate
  }
  return chain
}

interface ConnectorOptions {
  proxy: URL | undefined
  timeout: number
  /** Called with the certificate of the server, as DER, at each connection, once it is verified. */
  onServer?: (certificate: Uint8Array) => void
}

function telling(
  connect: buildConnector.connector,
  onServer: (certificate: Uint8Array) => void,
): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result
      const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
      if (certificate) onServer(certificate.raw)
      callback(...result)
    })
}

/** Opens undici's connections: TLS verified with the cluster's CA, through a proxy's tunnel if there is one. */
export function connectorFor(
  access: ServerAccess,
  {proxy, timeout, onServer}: ConnectorOptions,
): buildConnector.connector {
  const secure = buildConnector({...tlsOptions(access), timeout, allowH2: false})
  const connect = onServer ? telling(secure, onServer) : secure
  if (!proxy) return connect

  const server = new URL(access.server)
  const target = {host: hostOf(server), port: Number(server.port || 443)}
  return (options, callback) => {
    openTunnel(proxy, target, timeout).then(
      (socket: Socket) => connect({...options, httpSocket: socket}, callback),
      (error: unknown) => callback(error as Error, null),
    )
  }
}

function tlsOptions(access: ServerAccess): buildConnector.BuildOptions {
  const expected = access.tlsServerName ?? hostOf(new URL(access.server))
  return {
    rejectUnauthorized: !access.insecure,
    // An IP address is never sent as SNI, but the certificate is still checked for it.
    ...(isIP(expected) ? {} : {servername: expected}),
    checkServerIdentity: (_host: string, certificate: PeerCertificate) =>
      checkServer(expected, certificate),
    ...(access.ca === undefined ? {} : {ca: access.ca}),
    ...(access.clientCertificate && {
      cert: access.clientCertificate.certificate,
      key: access.clientCertificate.key,
    }),
  }
}

export interface PeerOptions {
  clientCertificate?: ServerAccess['clientCertificate'] | undefined
  tlsServerName?: string | undefined
  timeout: number
  environment?: Environment | undefined
}

/**
 * The certificates that a server presents, as DER, its own first. Nothing is verified, and no request is sent: this is only to see
 * what a server presents.
 */
export async function peerCertificates(
  server: URL,
  {clientCertificate, tlsServerName, timeout, environment = process.env}: PeerOptions,
): Promise<Buffer[]> {
  const access = {server: server.href, insecure: true, tlsServerName, clientCertificate}
  const connect = connectorFor(access, {proxy: proxyOf(access, environment), timeout})
  const {hostname, host, protocol, port} = server
  return await new Promise((resolve, reject) => {
    connect({hostname, host, protocol, port}, (error, socket) => {
      if (error) return reject(error)
      resolve(socket instanceof TLSSocket ? chainOf(socket.getPeerCertificate(true)) : [])
      socket.destroy()
    })
  })
}

/** What a server says that does not trust the CA of a client certificate. Go and OpenSSL choose different ones. */
const DISTRUST = /ALERT_(?:BAD_CERTIFICATE|CERTIFICATE_REQUIRED|CERTIFICATE_UNKNOWN|UNKNOWN_CA)/

const isDistrust = (error: unknown): boolean => DISTRUST.test(systemCode(error) ?? '')

/**
 * Whether a server goes on with whoever shows it this client certificate. With TLS 1.3 it says so only after the handshake, so that a request is
 * sent. Throws if it says neither.
 */
export async function acceptsClient(
  server: URL,
  {clientCertificate, timeout, environment = process.env}: PeerOptions,
): Promise<boolean> {
  const access = {server: server.href, insecure: true, clientCertificate}
  const connect = connectorFor(access, {proxy: proxyOf(access, environment), timeout})
  const {hostname, host, protocol, port} = server
  return await new Promise((resolve, reject) => {
    connect({hostname, host, protocol, port}, (failed, socket) => {
      if (failed && isDistrust(failed)) return resolve(false)
      if (failed) return reject(failed)
      socket.setTimeout(timeout, () => socket.destroy(new Error('it did not answer in time')))
      socket.once('error', (error: Error) => {
        if (isDistrust(error)) resolve(false)
        else reject(error)
      })
      socket.once('close', () => reject(new Error('it closed the connection without an answer')))
      socket.once('data', () => {
        resolve(true)
        socket.destroy()
      })
      socket.write(`GET /version HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    })
  })
}
