import assert from 'node:assert/strict'
import {usedHeap} from '../../helpers/heap.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api, type Watching} from '../support.ts'

const MIB = 1024 * 1024
const PATH = '/api/v1/namespaces/default/configmaps'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

describe('many updates of a large object', () => {
  let server: TestServer
  let api: Api
  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())

  const watchAll = async (since: string): Promise<Watching[]> => [
    await api.watch(`${PATH}?resourceVersion=${since}`),
    await api.watch(`${PATH}?resourceVersion=${since}&includeObject=Object`, {accept: TABLE}),
  ]

  it('do not fill the memory with what it was before, nor with what watchers were sent', async () => {
    const {body} = await api.post(PATH, {metadata: {name: 'large'}})
    const watches = await watchAll(body.metadata.resourceVersion)
    const before = usedHeap()
    for (let count = 1; count <= 60; count++) {
      const data = {text: String(count).padEnd(1_000_000, 'x')}
      const {status} = await api.put(`${PATH}/large`, {metadata: {name: 'large'}, data})
      assert.equal(status, 200)
      for (const watch of watches) {
        await watch.until(() => watch.events.length >= 1)
        watch.events.length = 0
      }
    }
    const grown = usedHeap() - before
    assert.ok(grown < 64 * MIB, `${Math.round(grown / MIB)} MiB more`)
    for (const watch of watches) await watch.stop()
  })
})
