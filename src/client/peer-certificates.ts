import {TLSSocket} from 'node:tls'
import {connectorFor} from './connector.ts'
import type {Environment} from './proxy-rules.ts'
import {chainOf} from './server-check.ts'
import {proxyOf} from './tunnel.ts'

export interface PeerOptions {
  tlsServerName?: string | undefined
  timeout: number
  environment?: Environment | undefined
}

/**
 * The certificates that a server presents, as DER, its own first. Nothing is verified and nothing is sent: this is only to explain
 * why a server is not trusted.
 */
export async function peerCertificates(
  server: URL,
  {tlsServerName, timeout, environment = process.env}: PeerOptions,
): Promise<Buffer[]> {
  const access = {server: server.href, insecure: true, tlsServerName}
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
