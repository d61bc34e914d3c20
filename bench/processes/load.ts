import {connect} from 'node:http2'
import {serveCalls} from './calls.ts'
import {RawClient, RawWatcher, requestText, type RawRequest} from './raw-client.ts'
import type {Target} from './target.ts'

export interface Load {
  target: Target
  /** `{n}` in path and body is replaced by a number of its own for each request, below `numbers` where that is given. */
  request: RawRequest
  count: number
  connections: number
  numbers?: number
  first?: number
}

export interface Watching {
  target: Target
  path: string
  watchers: number
}

const AT_ONCE = 50

let watchers: RawWatcher[] = []
let received = 0
let awaited = Infinity
let reached: () => void = () => undefined

/** Sends the requests, each connection one after the other; gives the milliseconds all took. */
async function send(load: Load): Promise<number> {
  const {target, connections} = load
  const texts = textsOf(load)
  const clients = await Promise.all(
    Array.from({length: connections}, () => RawClient.connect(target)),
  )
  const start = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      for (let text = texts.pop(); text !== undefined; text = texts.pop())
        requireSuccess(await client.send(text))
    }),
  )
  const took = performance.now() - start
  for (const client of clients) client.close()
  return took
}

function textsOf({request, count, numbers = Infinity, first = 0}: Load): string[] {
  return Array.from({length: count}, (_, index) => {
    const number = String(first + (index % numbers))
    return requestText({
      ...request,
      path: request.path.replace('{n}', number),
      ...(request.body === undefined ? {} : {body: request.body.replace('{n}', number)}),
    })
  })
}

function requireSuccess(status: number): void {
  if (status !== 200 && status !== 201) throw new Error(`the server answered ${status}`)
}

/** The same over one HTTP/2 connection, with as many streams at once. GET only. */
async function sendMultiplexed({target, request, count, connections}: Load): Promise<number> {
  const {port, certificate: cert, key} = target
  const session = connect(`https://127.0.0.1:${port}`, {cert, key, rejectUnauthorized: false})
  const get = async () =>
    new Promise<void>((resolve, reject) => {
      const stream = session.request({':path': request.path, accept: 'application/json'})
      stream.on('response', (headers) => requireSuccess(headers[':status'] ?? 0))
      stream.on('error', reject)
      stream.on('end', resolve)
      stream.resume()
    })
  await get()
  let left = count
  const start = performance.now()
  await Promise.all(
    Array.from({length: connections}, async () => {
      while (left-- > 0) await get()
    }),
  )
  const took = performance.now() - start
  session.close()
  return took
}

/** How many bytes the answer to the first of the requests has. */
async function sizeOf(load: Pick<Load, 'first' | 'request' | 'target'>): Promise<number> {
  const client = await RawClient.connect(load.target)
  const [text = ''] = textsOf({...load, count: 1, connections: 1})
  requireSuccess(await client.send(text))
  client.close()
  return client.answerBytes
}

/** Opens watches, each on a connection of its own. */
async function watch({target, path, watchers: count}: Watching): Promise<void> {
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    const some = Array.from({length: Math.min(AT_ONCE, count - opened)}, () =>
      RawWatcher.open(target, path, note),
    )
    watchers.push(...(await Promise.all(some)))
  }
}

function note(count: number): void {
  received += count
  if (received >= awaited) reached()
}

/** Waits until so many events have come in, counted over all watches from this call on; gives the time of day. */
async function receive(events: number): Promise<number> {
  received = 0
  awaited = events
  await new Promise<void>((resolve) => (reached = resolve))
  return Date.now()
}

function unwatch(): void {
  for (const watcher of watchers) watcher.close()
  watchers = []
}

const operations = {send, sendMultiplexed, sizeOf, watch, receive, unwatch}
export type LoadOperations = typeof operations

serveCalls(operations)
