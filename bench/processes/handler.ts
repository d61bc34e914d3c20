import {createHash} from 'node:crypto'
import {parseCertificate} from '../../src/pki/certificate.ts'
import type {ApiRequest, ApiResponse} from '../../src/server/kernel/api-request.ts'
import {ADMIN, startTestServer} from '../../test/helpers/test-server.ts'
import {configMap, configMapsPath} from '../objects.ts'
import {median} from '../rows.ts'
import {serveCalls} from './calls.ts'
import {usage} from './target.ts'

const LISTED = 500
const ROUNDS = 15
const WARM_UP = 3
const AT_ONCE = 10
const NAMESPACE = 'default'

/** Who sends: a caller in the process, or one with a client certificate. */
type Sender = Pick<ApiRequest, 'caller' | 'peer'>
type Send = (method: string, path: string, body?: string, sender?: Sender) => Promise<ApiResponse>

/** Microseconds of processor time that each kind of request takes. */
export type HandlerCosts = Record<
  'certified' | 'create' | 'get' | 'json' | 'list' | 'update',
  number
>

async function measure(): Promise<HandlerCosts> {
  const server = await startTestServer({controllers: false})
  const {signal} = new AbortController()
  const send: Send = async (method, target, body = '', sender = {caller: ADMIN}) => {
    const [path = '', query] = target.split('?')
    const answer = await server.handler({
      method,
      path,
      query: new URLSearchParams(query),
      headers: {'content-type': 'application/json', 'user-agent': 'bench/1'},
      rawHeaders: [],
      body: Buffer.from(body),
      remoteAddress: '127.0.0.1',
      signal,
      ...sender,
    })
    if (answer.status >= 300) throw new Error(`the server answered ${answer.status}`)
    // A text in pieces has its cost still to come.
    Buffer.from(answer.body as string)
    return answer
  }
  try {
    const {certificate} = await server.credentialsFor('admin', ['system:masters'])
    const {der} = parseCertificate(certificate)
    const fingerprint = createHash('sha256').update(der).digest('hex')
    return await measureVerbs(send, {peer: {fingerprint, chain: [der]}})
  } finally {
    await server.stop()
  }
}

async function measureVerbs(send: Send, certified: Sender): Promise<HandlerCosts> {
  const path = configMapsPath(NAMESPACE)
  let made = 0
  let version = 0
  const create = () => send('POST', path, JSON.stringify(configMap(NAMESPACE, made++)))
  const update = () => {
    const {metadata, data} = configMap(NAMESPACE, version % LISTED)
    const changed = {metadata, data: {...data, version: String(version++)}}
    return send('PUT', `${path}/${metadata.name}`, JSON.stringify(changed))
  }
  for (let object = 0; object < LISTED; object++) await create()
  const sample = JSON.stringify(configMap(NAMESPACE, 7))
  const works: {name: keyof HandlerCosts; each: () => Promise<unknown>; times: number}[] = [
    {name: 'json', times: 1000, each: () => Promise.resolve(JSON.stringify(JSON.parse(sample)))},
    {name: 'get', times: 1000, each: () => send('GET', `${path}/object-7`)},
    {
      name: 'certified',
      times: 1000,
      each: () => send('GET', `${path}/object-7`, '', certified),
    },
    {name: 'create', times: 300, each: create},
    {name: 'update', times: 300, each: update},
    {name: 'list', times: 50, each: () => send('GET', `${path}?limit=${LISTED}`)},
  ]
  const costs: Record<keyof HandlerCosts, number[]> = {
    certified: [],
    create: [],
    get: [],
    json: [],
    list: [],
    update: [],
  }
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const {name, times, each} of works) costs[name].push(await microseconds(times, each))
  }
  const cost = (name: keyof HandlerCosts) => median(costs[name].slice(WARM_UP))
  return {
    certified: cost('certified'),
    create: cost('create'),
    get: cost('get'),
    json: cost('json'),
    list: cost('list'),
    update: cost('update'),
  }
}

/** Of processor time. As many at once as a write may share a commit with. */
async function microseconds(times: number, work: () => Promise<unknown>): Promise<number> {
  const before = usage().cpu
  for (let done = 0; done < times; done += AT_ONCE)
    await Promise.all(Array.from({length: AT_ONCE}, work))
  return (usage().cpu - before) / times
}

const operations = {measure}
export type HandlerOperations = typeof operations

serveCalls(operations)
