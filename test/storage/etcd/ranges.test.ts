import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {json} from 'node:stream/consumers'
import {Endpoints} from '../../../src/storage/etcd/endpoints.ts'
import {Gateway} from '../../../src/storage/etcd/gateway.ts'
import {base64, EtcdKeys} from '../../../src/storage/etcd/messages.ts'
import {Ranges} from '../../../src/storage/etcd/ranges.ts'

const KIBIBYTE = 1_024
const MEBIBYTE = 1_024 * KIBIBYTE
/** The most that an attempt may take and that an answer may have. */
const LIMITS = {attempt: 200, answer: MEBIBYTE}

interface AskedRange {
  key: string
  range_end: string
  limit: string
}

describe('a list of etcd', () => {
  let etcd: Server
  let gateway: Gateway
  let ranges: Ranges
  /** The length of each value. */
  let stored: Map<string, number>
  let pages: number[]
  /** Lets an answer of so many bytes never come. */
  let isLost: (bytes: number) => boolean
  /** How many connections are cut first. */
  let cuts: number

  beforeEach(async () => {
    stored = new Map()
    pages = []
    isLost = () => false
    cuts = 0
    etcd = createServer((request, response) => {
      void (async () => {
        const {key, range_end: end, limit} = (await json(request)) as AskedRange
        if (cuts-- > 0) return request.socket.destroy()
        pages.push(Number(limit))
        const [from, to] = [key, end].map((text) => Buffer.from(text, 'base64').toString())
        const found = [...stored].filter(([name]) => name >= (from ?? '') && name < (to ?? ''))
        const kvs = found.slice(0, Number(limit)).map(([name, length]) => ({
          key: base64(name),
          value: base64(Buffer.alloc(length)),
          mod_revision: '2',
          create_revision: '2',
        }))
        const text = JSON.stringify({header: {revision: '2'}, kvs, count: String(found.length)})
        if (!isLost(text.length)) response.end(text)
      })()
    }).listen(0, '127.0.0.1')
    await once(etcd, 'listening')
    const {port} = etcd.address() as AddressInfo
    const settings = {servers: [`http://127.0.0.1:${port}`], prefix: '/test'}
    gateway = new Gateway(new Endpoints(settings, () => undefined), 2_000, LIMITS)
    ranges = new Ranges(gateway, new EtcdKeys('/test'))
  })
  afterEach(async () => {
    await gateway.close()
    etcd.closeAllConnections()
    etcd.close()
  })

  function store(prefix: string, count: number, length: number): void {
    for (let index = 0; index < count; index++)
      stored.set(`/test${prefix}${String(index).padStart(4, '0')}`, length)
  }
  const listAll = async (prefix: string) => (await ranges.list(prefix)).entries.length

  it('of large entries is not asked for in the pages of a list of small ones', async () => {
    store('/leases/', 2_500, 10)
    store('/maps/', 40, 20 * KIBIBYTE)
    assert.equal(await listAll('/leases/'), 2_500)
    pages = []
    assert.equal(await listAll('/maps/'), 40)
    assert.deepEqual(pages, [32, 128])
  })

  it('asks for less when the answer would be too long, and stays with that', async () => {
    store('/a/', 2_500, 10)
    store('/b/', 90, 20 * KIBIBYTE)
    assert.equal(await listAll('/'), 2_590)
    assert.deepEqual(pages.slice(0, 5), [32, 128, 512, 2_000, 500])
    assert.deepEqual([...new Set(pages.slice(5))], [500, 125, 31])
  })

  it('asks for less when the answer does not come in time', async () => {
    isLost = (bytes) => bytes > 300 * KIBIBYTE
    store('/a/', 100, 20 * KIBIBYTE)
    assert.equal(await listAll('/a/'), 100)
    assert.deepEqual([...new Set(pages)], [32, 8])
  })

  it('comes in larger pages again after a while without an answer', async () => {
    let lost = 3
    isLost = () => lost-- > 0
    store('/a/', 2_500, 10)
    assert.equal(await listAll('/a/'), 2_500)
    assert.deepEqual(pages.slice(0, 5), [32, 8, 2, 1, 1])
    assert.ok(pages.length < 250, String(pages.length))
  })

  it('that is read in parts goes on with what it has seen', async () => {
    store('/a/', 36, 20 * KIBIBYTE)
    const bytes = 50 * KIBIBYTE
    let after = ''
    for (let part = 0; part < 3; part++)
      after = (await ranges.list('/a/', {bytes, after})).entries.at(-1)?.key ?? ''
    assert.equal(after, '/a/0005')
    assert.deepEqual(pages, [32, 128, 204])
  })

  it('asks for the same again when a connection is cut', async () => {
    cuts = 2
    store('/a/', 20, 10)
    assert.equal(await listAll('/a/'), 20)
    assert.deepEqual(pages, [32])
  })

  it('fails if a single entry does not come', async () => {
    isLost = () => true
    store('/a/', 1, 10)
    await assert.rejects(ranges.list('/a/'), {kind: 'unknown', message: /did not respond in time$/})
    assert.equal(pages.at(-1), 1)
  })
})
