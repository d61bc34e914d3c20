import {createPublicKey, generateKeyPairSync, sign} from 'node:crypto'
import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect, type ConnectionOptions} from 'node:tls'
import {joinPhases, runJoin} from '../../src/node/join/join.ts'
import {systemClock} from '../../src/runtime.ts'
import {serveCalls} from './calls.ts'
import type {LeastRequest} from './least-join-server.ts'
import type {Target} from './target.ts'

/** How many join, and how many of them side by side. */
interface Crowd {
  count: number
  atOnce: number
}

export interface Joining extends Crowd {
  /** `host:port` of a cluster. */
  endpoint: string
  token: string
  pins: string[]
  /** What the nodes' names begin with. */
  prefix: string
}

/** What a crowd took: the whole, and each of them, in milliseconds. */
export interface Joined {
  took: number
  each: number[]
}

const silent = () => undefined

async function inCrowd({count, atOnce}: Crowd, one: (number: number) => Promise<void>) {
  const each: number[] = []
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({length: atOnce}, async () => {
      while (next < count) {
        const number = next++
        const began = performance.now()
        await one(number)
        each.push(performance.now() - began)
      }
    }),
  )
  return {took: performance.now() - start, each}
}

/** Joins as `trustadm join` does, each machine with a folder of its own. */
async function joins(joining: Joining): Promise<Joined> {
  const {endpoint, token, pins, prefix} = joining
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  try {
    return await inCrowd(joining, async (number) => {
      const nodeName = `${prefix}-${number}`
      const discovery = {token, endpoints: [endpoint], caCertHashes: pins}
      const settings = {dir: join(folder, nodeName), nodeName, discovery, token}
      const request = {settings, clock: systemClock, tell: silent, note: silent, warn: silent}
      await runJoin(request, joinPhases())
    })
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** What cannot be left out of a join: two connections, and between them one answer to a signed request. */
async function leastJoins({target, ...crowd}: Crowd & {target: Target}): Promise<Joined> {
  const {privateKey, publicKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'})
  const content = Buffer.alloc(300, 'x')
  const request: LeastRequest = {
    content: content.toString('base64'),
    signature: sign('sha256', content, privateKey).toString('base64'),
    publicKey: createPublicKey(publicKey.export({format: 'pem', type: 'spki'}))
      .export({format: 'der', type: 'spki'})
      .toString('base64'),
  }
  const {port, ca, certificate: cert, key} = target
  const server = {host: '127.0.0.1', port, ca, servername: 'localhost'}
  return await inCrowd(crowd, async () => {
    await ask(server, JSON.stringify(request))
    await ask({...server, cert, key}, '.')
  })
}

async function ask(options: ConnectionOptions, text: string): Promise<void> {
  const socket = connect(options)
  await once(socket, 'secureConnect')
  socket.write(text)
  socket.resume()
  await once(socket, 'end')
  socket.destroy()
}

const operations = {joins, leastJoins}
export type JoinerOperations = typeof operations

serveCalls(operations)
