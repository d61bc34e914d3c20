import assert from 'node:assert/strict'
import {KeyedLock} from '../../../src/server/registry/resource-store.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const WRITERS = 64

describe('writers on one object', () => {
  let server: TestServer
  let api: Api

  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())

  it('lose no update: each reads, adds one and tries again on a conflict', async () => {
    await api.post(PATH, {metadata: {name: 'counter'}, data: {n: '0'}})
    let conflicts = 0
    await Promise.all(
      Array.from({length: WRITERS}, async () => {
        for (;;) {
          const {body} = await api.get(`${PATH}/counter`)
          body.data.n = String(Number(body.data.n) + 1)
          const {status} = await api.put(`${PATH}/counter`, body)
          if (status === 200) return
          assert.equal(status, 409)
          conflicts++
        }
      }),
    )
    assert.equal((await api.get(`${PATH}/counter`)).body.data.n, String(WRITERS))
    assert.ok(conflicts > 0)
  })

  for (const kind of ['merge', 'strategic-merge']) {
    it(`all come through with a ${kind} patch that names no revision`, async () => {
      const name = `patched-${kind}`
      await api.post(PATH, {metadata: {name}})
      const answers = await Promise.all(
        Array.from({length: WRITERS}, (_, writer) =>
          api.patch(`${PATH}/${name}`, {data: {[`w${writer}`]: 'yes'}}, kind),
        ),
      )
      assert.deepEqual(new Set(answers.map(({status}) => status)), new Set([200]))
      const {body} = await api.get(`${PATH}/${name}`)
      assert.equal(Object.keys(body.data).length, WRITERS)
    })
  }

  it('all come through with an apply of their own fields', async () => {
    const answers = await Promise.all(
      Array.from({length: 16}, (_, writer) =>
        api.patch(
          `${PATH}/applied?fieldManager=m${writer}`,
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: {name: 'applied'},
            data: {[`w${writer}`]: ''},
          },
          'apply',
        ),
      ),
    )
    const codes = answers.map(({status}) => status).sort()
    assert.deepEqual(codes, [...Array.from({length: 15}, () => 200), 201])
    const {body} = await api.get(`${PATH}/applied`)
    assert.equal(Object.keys(body.data).length, 16)
  })

  it('are answered one success and conflicts for the rest where all name the same revision', async () => {
    const {body} = await api.post(PATH, {metadata: {name: 'once'}})
    const answers = await Promise.all(
      Array.from({length: WRITERS}, (_, writer) =>
        api.put(`${PATH}/once`, {...body, data: {writer: String(writer)}}),
      ),
    )
    const codes = answers.map(({status}) => status).sort()
    assert.deepEqual(codes, [200, ...Array.from({length: WRITERS - 1}, () => 409)])
  })

  it('get one creation and 409s for the rest', async () => {
    const answers = await Promise.all(
      Array.from({length: WRITERS}, () => api.post(PATH, {metadata: {name: 'born-once'}})),
    )
    assert.equal(answers.filter(({status}) => status === 201).length, 1)
    assert.equal(answers.filter(({body}) => body.reason === 'AlreadyExists').length, WRITERS - 1)
  })

  it('never bring back what another deletes', async () => {
    await api.post(PATH, {metadata: {name: 'gone'}})
    const patches = Array.from({length: 32}, (_, writer) =>
      api.patch(`${PATH}/gone`, {data: {writer: String(writer)}}),
    )
    const {status} = await api.delete(`${PATH}/gone`)
    assert.equal(status, 200)
    for (const answer of await Promise.all(patches)) assert.ok([200, 404].includes(answer.status))
    assert.equal((await api.get(`${PATH}/gone`)).status, 404)
  })
})

describe('KeyedLock', () => {
  it('lets one go at a time, in the order they came, and keys do not wait for each other', async () => {
    const turns = new KeyedLock()
    const order: string[] = []
    const end = await turns.take('a')
    const second = turns.take('a').then((done) => {
      order.push('second')
      done()
    })
    const third = turns.take('a').then((done) => {
      order.push('third')
      done()
    })
    ;(await turns.take('b'))()
    order.push('first')
    end()
    await Promise.all([second, third])
    assert.deepEqual(order, ['first', 'second', 'third'])
    ;(await turns.take('a'))()
  })
})
