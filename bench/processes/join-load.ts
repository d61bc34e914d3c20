import type {IncomingMessage} from 'node:http'
import {Agent, request, type RequestOptions} from 'node:https'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import {nodeUser} from '../../src/csr/node-names.ts'
import {KUBELET_CLIENT} from '../../src/csr/signers.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {createPlainRequest} from '../../src/pki/create.ts'
import {serveCalls} from './calls.ts'

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
/** Seconds after which a server ends a watch; no join takes so long. */
const WATCH = '60'

export interface JoinLoad {
  port: number
  token: string
  /** What the nodes' names begin with; a name joins once. */
  prefix: string
  count: number
  atOnce: number
}

/** What the joins took: all of them, and each, in milliseconds. */
export interface Joined {
  took: number
  each: number[]
}

/** How to reach the server. */
interface Server extends RequestOptions {
  headers: Record<string, string>
}

/** Machines that join as a kubelet does: each creates a request and watches it until the certificate is there. */
async function joins({port, token, prefix, count, atOnce}: JoinLoad): Promise<Joined> {
  const headers = {authorization: `Bearer ${token}`, accept: 'application/json'}
  // A machine that joins has no TLS session to resume.
  const agent = new Agent({keepAlive: true, maxSockets: atOnce, maxCachedSessions: 0})
  // The server's certificate is not checked: that is the machines' work, and theirs is not measured.
  const server = {host: '127.0.0.1', port, agent, headers, rejectUnauthorized: false}
  const requests: string[] = []
  for (let number = 0; number < count; number++) requests.push(await newRequest(prefix, number))
  const each: number[] = []
  const start = performance.now()
  await Promise.all(
    Array.from({length: atOnce}, async () => {
      for (let body = requests.pop(); body !== undefined; body = requests.pop()) {
        const began = performance.now()
        await join(server, body)
        each.push(performance.now() - began)
      }
    }),
  )
  const took = performance.now() - start
  agent.destroy()
  return {took, each}
}

async function newRequest(prefix: string, number: number): Promise<string> {
  const node = `${prefix}-${number}`
  const subject = {commonName: nodeUser(node), organizations: ['system:nodes']}
  const pem = await createPlainRequest(subject, await generateKeys('ECDSA-P256'))
  return JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {name: `node-csr-${node}`},
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: KUBELET_CLIENT,
      usages: ['digital signature', 'client auth'],
    },
  })
}

async function join(server: Server, body: string): Promise<void> {
  const created = await create(server, body)
  if (!created.status?.certificate) await untilIssued(server, created)
}

async function create(server: Server, body: string): Promise<CertificateSigningRequest> {
  const headers = {
    ...server.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const response = await send({...server, headers, method: 'POST', path: PATH}, body)
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  if (response.statusCode !== 201) throw new Error(`create: ${response.statusCode} ${text}`)
  return JSON.parse(text) as CertificateSigningRequest
}

/** The watch ends with its connection, so that every machine makes one of its own. */
async function untilIssued(
  server: Server,
  {metadata: {name = '', resourceVersion = ''}}: CertificateSigningRequest,
): Promise<void> {
  const query = new URLSearchParams({
    watch: 'true',
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    timeoutSeconds: WATCH,
  })
  const response = await send({...server, path: `${PATH}?${query.toString()}`})
  if (response.statusCode !== 200) throw new Error(`watch: ${response.statusCode}`)
  let rest = ''
  for await (const chunk of response) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const {type, object} = JSON.parse(line) as {type: string; object: CertificateSigningRequest}
      if (type === 'ERROR') throw new Error(`watch: ${line}`)
      // Leaving the loop ends the connection.
      if (object.status?.certificate) return
    }
  }
  throw new Error(`${name} was not issued`)
}

const send = (options: RequestOptions, body?: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request(options, resolve).on('error', reject).end(body)
  })

const operations = {joins}
export type JoinLoadOperations = typeof operations

serveCalls(operations)
