import {createPrivateKey, createPublicKey, sign, verify, type KeyObject} from 'node:crypto'
import {once} from 'node:events'
import {mkdtemp, open, rm, type FileHandle} from 'node:fs/promises'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createServer, type TLSSocket} from 'node:tls'
import {promisify} from 'node:util'
import {serveCalls} from './calls.ts'
import type {Target} from './target.ts'

const signAsync = promisify(sign)
const verifyAsync = promisify(verify)

/** A request for a certificate, without what a server has to find out about it. */
export interface LeastRequest {
  content: string
  signature: string
  publicKey: string
}

const WRITES = 3
/** About what a stored request, an approval and a certificate are. */
const WRITTEN = Buffer.alloc(1500, 'x')

let folder = ''
let file: FileHandle | undefined
let pending: (() => void)[] = []
let isWriting = false

/** Puts the bytes on the disk; those that come while a write runs share the next one. */
async function writeDurably(): Promise<void> {
  await new Promise<void>((resolve) => {
    pending.push(resolve)
    if (!isWriting) void drain()
  })
}

async function drain(): Promise<void> {
  isWriting = true
  while (pending.length > 0) {
    const waiting = pending
    pending = []
    await file?.write(Buffer.concat(waiting.map(() => WRITTEN)))
    await file?.datasync()
    for (const done of waiting) done()
  }
  isWriting = false
}

/** The least a server can do for a machine that joins: check the request, sign, and keep the three steps of it. */
async function handle(text: string, key: KeyObject): Promise<Buffer> {
  const {content, signature, publicKey} = JSON.parse(text) as LeastRequest
  const signed = Buffer.from(content, 'base64')
  const from = createPublicKey({
    key: Buffer.from(publicKey, 'base64'),
    format: 'der',
    type: 'spki',
  })
  if (!(await verifyAsync('sha256', signed, from, Buffer.from(signature, 'base64'))))
    throw new Error('the signature is wrong')
  const certificate = await signAsync('sha256', signed, key)
  for (let write = 0; write < WRITES; write++) await writeDurably()
  return certificate
}

async function start({ca, certificate: cert, key}: Omit<Target, 'port'>): Promise<number> {
  folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  file = await open(join(folder, 'written'), 'a')
  const signer = createPrivateKey(key)
  const server = createServer({ca, cert, key, requestCert: true, rejectUnauthorized: false})
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', (bytes: Buffer) => {
      // The second connection, by the new certificate, only says that it is there.
      if (bytes.length === 1) socket.end(bytes)
      else void handle(bytes.toString(), signer).then((answer) => socket.end(answer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function stop(): Promise<void> {
  await file?.close()
  await rm(folder, {recursive: true, force: true})
}

const operations = {start, stop}
export type LeastJoinOperations = typeof operations

serveCalls(operations)
