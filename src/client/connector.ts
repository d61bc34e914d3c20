import {isIP, type Socket} from 'node:net'
import {TLSSocket, type PeerCertificate} from 'node:tls'
import {buildConnector} from 'undici'
import {hostOf} from './proxy-rules.ts'
import type {ServerAccess} from './server-access.ts'
import {checkServer} from './server-check.ts'
import {openTunnel} from './tunnel.ts'

export interface ConnectorOptions {
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
