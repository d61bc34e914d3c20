import assert from 'node:assert/strict'
import fc from 'fast-check'
import {prettyIfWanted} from '../../src/server/pretty.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {Api} from './support.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const indented = (text: string) => JSON.stringify(JSON.parse(text), null, 2)

describe('JSON for people', () => {
  let server: TestServer
  let api: Api
  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post(MAPS, {metadata: {name: 'a'}, data: {quote: 'a"b\\', line: '{"a": [1,\n2]}'}})
  })
  after(() => server.stop())

  const get = (path: string, headers: Record<string, string> = {}) => api.get(path, {headers})

  for (const [name, query, headers] of [
    ['curl', '', {'user-agent': 'curl/8.5.0'}],
    ['Wget', '', {'user-agent': 'Wget/1.21'}],
    ['a browser', '', {'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)'}],
    ['whoever sends pretty=1', '?pretty=1', {}],
    ['whoever sends pretty=true', '?pretty=true', {}],
    ['whoever accepts pretty=1', '', {accept: 'application/json;pretty=1'}],
  ] as const) {
    it(`is indented for ${name}: objects, lists, errors and documents`, async () => {
      for (const path of [`${MAPS}/a`, MAPS, `${MAPS}/missing`, '/api/v1', '/version']) {
        const {text} = await get(path + query, headers)
        assert.equal(text, indented(text), path)
        assert.match(text, /^\{\n {2}"/)
      }
    })
  }

  for (const [name, query, headers] of [
    ['kubectl', '', {'user-agent': 'kubectl/v1.36.0'}],
    ['curl with pretty=0', '?pretty=0', {'user-agent': 'curl/8.5.0'}],
    ['curl with pretty=no', '?pretty=no', {'user-agent': 'curl/8.5.0'}],
  ] as const) {
    it(`is on one line for ${name}`, async () => {
      const {text} = await get(`${MAPS}/a${query}`, headers)
      assert.equal(text, JSON.stringify(JSON.parse(text)))
    })
  }

  it('is one line for each event of a watch', async () => {
    const watching = await api.watch(MAPS, {headers: {'user-agent': 'curl/8.5.0'}})
    // Each line is parsed by itself.
    assert.deepEqual(await watching.summary(1), ['ADDED a'])
    await watching.stop()
  })

  it('is the same in pieces: a list that is too long for one text', async () => {
    for (let count = 0; count < 4; count++) {
      await api.post(MAPS, {metadata: {name: `large-${count}`}, data: {a: '"'.repeat(400_000)}})
    }
    const plain = await get(MAPS)
    const {text} = await get(`${MAPS}?pretty=1`)
    assert.equal(text, indented(plain.text))
  })

  it('is what JSON.stringify makes of any value', () => {
    const request = {path: '/api', query: new URLSearchParams('pretty=1'), headers: {}}
    fc.assert(
      fc.property(fc.json(), (body) => {
        const headers = {'Content-Type': 'application/json'}
        const shown = prettyIfWanted(request, {status: 200, headers, body})
        assert.equal(shown.body, indented(body))
      }),
    )
  })
})
