import {once} from 'node:events'
import {connect as connectTcp, type Socket} from 'node:net'
import {connect, type TLSSocket} from 'node:tls'
import {ATTACKERS, type Holdings, type Identity} from '../attack.ts'

/** A connection of the attackers to the server, before TLS. */
export const rawSocket = (port: number, localAddress = ATTACKERS): Socket =>
  connectTcp({host: '127.0.0.1', port, localAddress})

/** A bare TLS connection of somebody; HTTP/1.1 unless another protocol is asked for. */
export async function openSocket(
  {ca, port}: Holdings,
  {certificate: cert, key}: Identity,
  protocol: 'h2' | 'http/1.1' = 'http/1.1',
  address = ATTACKERS,
): Promise<TLSSocket> {
  const socket = connect({
    socket: rawSocket(port, address),
    ca,
    ALPNProtocols: [protocol],
    ...(cert === undefined ? {} : {cert}),
    ...(key === undefined ? {} : {key}),
  })
  await once(socket, 'secureConnect')
  socket.on('error', () => undefined)
  return socket
}

/** The status in the first line of what has arrived. */
export const statusOf = ([head]: Buffer[]): string =>
  /^HTTP\/1\.1 (\d{3})/.exec(head?.toString('latin1', 0, 20) ?? '')?.[1] ?? 'no HTTP'
