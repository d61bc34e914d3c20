import {generateKeyPairSync, sign, verify} from 'node:crypto'
import {once} from 'node:events'
import {createServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {authorityValidity} from '../../src/pki/lifetimes.ts'
import {systemClock} from '../../src/runtime.ts'
import {serveCalls} from './calls.ts'

const HOUR = 3_600_000
const CONTENT = Buffer.alloc(300, 'x')

/**
 * What no server can leave out for a machine that joins: a handshake, the request's JSON read and the answer's written, one signature
 * checked and one made. It decides nothing and keeps nothing.
 */
async function start(): Promise<number> {
  const serving = await generateKeys('ECDSA-P256')
  const validity = authorityValidity(systemClock.now(), HOUR)
  const cert = await createAuthorityCertificate({commonName: 'bench'}, serving, validity)
  const {privateKey, publicKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'})
  const signature = sign('sha256', CONTENT, privateKey)
  const server = createServer({cert, key: privateKeyPem(serving.privateKey)})
  server.on('request', (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const csr = JSON.parse(Buffer.concat(chunks).toString()) as {spec: {request: string}}
      if (!verify('sha256', CONTENT, publicKey, signature)) throw new Error('a wrong signature')
      const certificate = sign('sha256', Buffer.from(csr.spec.request, 'base64'), privateKey)
      const answer = {...csr, status: {certificate: certificate.toString('base64')}}
      // Every machine has a connection of its own.
      response.writeHead(201, {'content-type': 'application/json', connection: 'close'})
      response.end(JSON.stringify(answer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const operations = {start}
export type BareJoinOperations = typeof operations

serveCalls(operations)
