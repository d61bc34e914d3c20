import assert from 'node:assert/strict'
import {get} from 'node:https'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const MIB = 1024 * 1024
const COUNT = 40
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

interface Named {
  metadata: {name: string}
}

describe('a list that is too long for one text', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api
  const name = (index: number) => `large-${String(index).padStart(2, '0')}`
  const names = Array.from({length: COUNT}, (_, index) => name(index))

  before(async () => {
    server = await startTestServer({controllers: false, storage})
    api = new Api(server.handler)
    for (const one of names) {
      const metadata = {name: one, annotations: {a: 'a'.repeat(100_000)}, labels: {size: 'large'}}
      await api.post(CONFIG_MAPS, {metadata, data: {text: 'x'.repeat(900_000)}})
    }
  })
  after(() => server.stop())

  const pagesOf = async (query: string) => {
    const pages: string[][] = []
    let next: string | undefined = ''
    while (next !== undefined) {
      const {status, text, body} = await api.get(`${CONFIG_MAPS}?${query}&continue=${next}`)
      assert.equal(status, 200, text.slice(0, 500))
      assert.ok(text.length < 6 * MIB, `a page of ${text.length} bytes`)
      pages.push(body.items.map(({metadata}) => metadata.name))
      next = body.metadata.continue
    }
    return pages
  }

  it('has pages that end by their bytes for whoever asks for pages', async () => {
    const pages = await pagesOf('limit=500')
    assert.deepEqual(pages.flat(), names)
    assert.ok(pages.length >= 8, `${pages.length} pages`)
    const {body} = await api.get(`${CONFIG_MAPS}?limit=500`)
    assert.equal(body.metadata.remainingItemCount, COUNT - body.items.length)
  })

  it('has them behind a selector, and at a past revision, too', async () => {
    const {body} = await api.get(`${CONFIG_MAPS}?limit=1`)
    const {resourceVersion} = body.metadata
    await api.post(CONFIG_MAPS, {metadata: {name: 'a-new-one'}})
    const past = `limit=500&resourceVersionMatch=Exact&resourceVersion=${resourceVersion}`
    const first = async (query: string) => (await api.get(`${CONFIG_MAPS}?${query}`)).body
    for (const query of ['limit=500&labelSelector=size', past, `${past}&labelSelector=size`]) {
      const {items, metadata} = await first(query)
      assert.equal(items[0]?.metadata.name, names[0])
      assert.ok(items.length < 10 && metadata.continue !== undefined, `${items.length} items`)
      const rest = await first(`limit=500&labelSelector=size&continue=${metadata.continue ?? ''}`)
      assert.equal(rest.items[0]?.metadata.name, names[items.length])
    }
    await api.delete(`${CONFIG_MAPS}/a-new-one`)
  })

  for (const [form, accept] of Object.entries({objects: '', tables: TABLE, metadata: PARTIAL})) {
    it(`is made piece by piece for whoever asks for all of it: ${form}`, async () => {
      const {status, headers, body} = await server.handler({
        method: 'GET',
        path: CONFIG_MAPS,
        query: new URLSearchParams(),
        headers: {accept},
        rawHeaders: [],
        body: new Uint8Array(),
        remoteAddress: '192.0.2.1',
        signal: new AbortController().signal,
        caller: {username: 'admin', groups: ['system:masters']},
      })
      assert.equal(status, 200)
      assert.equal(headers['Content-Length'], undefined)
      assert.ok(typeof body !== 'string' && !(body instanceof Uint8Array))
      let text = ''
      for await (const piece of body) {
        assert.ok(piece.length < 2.5 * MIB, `a piece of ${piece.length} bytes`)
        text += String(piece)
      }
      const list = JSON.parse(text) as {items?: Named[]; rows?: {object: Named}[]}
      const items = list.items ?? list.rows?.map(({object}) => object)
      assert.deepEqual(
        items?.map(({metadata}) => metadata.name),
        names,
      )
    })
  }

  it('comes whole over a connection, also from a server that is stopping', async () => {
    const {certificate, key} = await server.credentialsFor('admin', ['system:masters'])
    const text = new Promise<string>((resolve, reject) => {
      const url = `${server.url}${CONFIG_MAPS}`
      get(url, {cert: certificate, key, ca: server.ca, agent: false}, (response) => {
        const chunks: Buffer[] = []
        response.once('data', () => void server.close(30_000))
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks).toString())).on('error', reject)
      }).on('error', reject)
    })
    const list = JSON.parse(await text) as {items: unknown[]}
    assert.equal(list.items.length, COUNT)
  })
})
