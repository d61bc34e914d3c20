import type {ApiResponse} from '../src/server/api-request.ts'
import {ADMIN, startTestServer} from '../test/helpers/test-server.ts'
import {configMap, configMapsPath} from './objects.ts'
import {compared, median, milliseconds, type BenchRow} from './rows.ts'

const OBJECTS = 500
const ROUNDS = 15
const NAMESPACE = 'default'

type Send = (method: string, path: string, body?: string) => Promise<ApiResponse>

/** What the server's function costs without sockets and disk, beside reading and writing the object's JSON once. */
export async function benchHandler(): Promise<BenchRow[]> {
  const server = await startTestServer({controllers: false})
  const {signal} = new AbortController()
  const send: Send = async (method, target, body = '') => {
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
      caller: ADMIN,
    })
    if (answer.status >= 300) throw new Error(`the server answered ${answer.status}`)
    return answer
  }
  try {
    return await benchVerbs(send)
  } finally {
    await server.stop()
  }
}

async function benchVerbs(send: Send): Promise<BenchRow[]> {
  const path = configMapsPath(NAMESPACE)
  let made = 0
  const bodyOf = (number: number, label = 'bench') => {
    const object = configMap(NAMESPACE, number)
    return JSON.stringify({...object, metadata: {...object.metadata, labels: {app: label}}})
  }
  const create = () => send('POST', path, bodyOf(made++))
  for (let object = 0; object < OBJECTS; object++) await create()
  const sample = bodyOf(0)
  let version = 0
  const works: {name: string; each: () => Promise<unknown>; times: number}[] = [
    {name: 'get', times: 1000, each: () => send('GET', `${path}/object-7`)},
    {name: 'create', times: 300, each: create},
    {
      name: 'update',
      times: 300,
      each: () => send('PUT', `${path}/object-7`, bodyOf(7, `v${version++}`)),
    },
    {name: `list of ${OBJECTS}`, times: 50, each: () => send('GET', `${path}?limit=${OBJECTS}`)},
  ]
  const json = async () => Promise.resolve(JSON.stringify(JSON.parse(sample)))
  const costs = new Map<string, number[]>()
  const note = (name: string, cost: number) => costs.set(name, [...(costs.get(name) ?? []), cost])
  for (let round = 0; round < ROUNDS; round++) {
    note('json', await microseconds(1000, json))
    for (const {name, times, each} of works) note(name, await microseconds(times, each))
  }
  const cost = (name: string) => median((costs.get(name) ?? []).slice(3))
  return works.map(({name}) =>
    compared(`${name} in process, memory store`, cost(name), 'µs each', [
      cost('json'),
      'one JSON.parse and stringify of the object',
    ]),
  )
}

async function microseconds(times: number, work: () => Promise<unknown>): Promise<number> {
  const took = await milliseconds(async () => {
    for (let time = 0; time < times; time++) await work()
  })
  return (took / times) * 1000
}
