import {once} from 'node:events'
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type OutgoingHttpHeaders,
} from 'node:http2'
import {Agent, request as httpsRequest, type RequestOptions} from 'node:https'
import {connect as connectTls, type ConnectionOptions, type TLSSocket} from 'node:tls'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {createIssuer, issueLeaf} from '../../../src/pki/issuer.ts'
import {generateKeys, privateKeyPem, type KeyAlgorithm} from '../../../src/pki/keys.ts'
import {authorityValidity, validityFor} from '../../../src/pki/lifetimes.ts'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {ProcessorSlice} from '../../../src/server/limits/processor-slice.ts'
import {Listener, type HttpLimits, type TlsMaterial} from '../../../src/server/http/listener.ts'
import type {Credentials} from '../../helpers/test-server.ts'

const DAY = 86_400_000

/** A CA and a serving certificate of it. */
export async function servingMaterial(
  algorithm: KeyAlgorithm = 'ECDSA-P256',
): Promise<TlsMaterial> {
  const now = new Date()
  const keys = await generateKeys('ECDSA-P256')
  const ca = await createAuthorityCertificate({commonName: 'ca'}, keys, authorityValidity(now, DAY))
  const issuer = createIssuer(parseCertificate(ca), keys.privateKey)
  const {privateKey, publicKey} = await generateKeys(algorithm)
  const certificate = await issueLeaf(issuer, {
    subject: {commonName: 'server'},
    names: {dns: ['localhost'], ips: ['127.0.0.1'], emails: [], uris: []},
    publicKey,
    usages: ['digital signature', 'server auth'],
    validity: validityFor(now, DAY / 2, issuer.certificate.notAfter),
  })
  return {certificate, key: privateKeyPem(privateKey), clientAuthorities: ca}
}

/** A listener on loopback in front of any handler. */
export async function listen(
  handler: Handler,
  limits: Partial<HttpLimits> = {},
  slice = new ProcessorSlice(),
) {
  const tls = await servingMaterial()
  const at = {host: '127.0.0.1', port: 0}
  const listener = await Listener.start({handler, ...at, tls, limits, slice})
  return {listener, port: listener.port, ca: tls.clientAuthorities}
}

export interface Place {
  port: number
  ca: string
}

export interface HttpAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

export interface HttpOptions {
  method?: string
  headers?: Record<string, string | string[]>
  body?: string | Uint8Array
  credentials?: Credentials
  agent?: Agent
}

/** One request over HTTP/1.1, on a connection of its own where no agent is given. */
export async function get1(
  {port, ca}: Place,
  path: string,
  {method = 'GET', headers = {}, body, credentials, agent}: HttpOptions = {},
): Promise<HttpAnswer> {
  const options: RequestOptions = {
    host: '127.0.0.1',
    port,
    ca,
    path,
    method,
    headers,
    agent: agent ?? false,
    ...(credentials && {cert: credentials.certificate, key: credentials.key}),
  }
  return new Promise((resolve, reject) => {
    const request = httpsRequest(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () =>
        resolve({status: response.statusCode ?? 0, headers: response.headers, text}),
      )
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** An HTTP/2 connection. */
export async function session2(
  {port, ca}: Place,
  credentials?: Credentials,
): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    ca,
    ...(credentials && {cert: credentials.certificate, key: credentials.key}),
  })
  session.on('error', () => undefined)
  await once(session, 'connect')
  return session
}

/** One request over HTTP/2. */
export async function get2(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body?: string | Uint8Array,
): Promise<HttpAnswer> {
  const stream = session.request({':path': path, ...headers}, {endStream: body === undefined})
  if (body !== undefined) stream.end(body)
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => (text += chunk))
  return new Promise((resolve, reject) => {
    let status = 0
    let received: HttpAnswer['headers'] = {}
    stream.on('response', (answer) => {
      status = Number(answer[':status'])
      received = answer
    })
    stream.on('error', reject)
    stream.on('close', () => resolve({status, headers: received, text}))
  })
}

/** A TLS connection without HTTP. */
export async function rawConnection(
  {port, ca}: Place,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connectTls({host: '127.0.0.1', port, ca, ...options})
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

/** Everything that comes back until the server closes the connection. */
export async function untilClosed(socket: TLSSocket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  if (!socket.destroyed) await once(socket, 'close')
  return text
}

export const json = (value: object, status = 200) => ({
  status,
  headers: {'Content-Type': 'application/json'},
  body: JSON.stringify(value),
})
