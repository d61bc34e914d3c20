import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const ROLE = 'node-role.kubernetes.io/control-plane'
const OTHER = {key: 'dedicated', value: 'db', effect: 'NoExecute'}

describe('the mark of a control plane on its Node', () => {
  let server: TestServer
  let fixture: PlaneFixture
  let client: ApiClient
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
    fixture = await planeFixture()
    fixture.context.connect = () => Promise.resolve(server.clientAs(ADMIN))
  })
  afterEach(async () => {
    await fixture.remove()
    await server.stop()
  })

  const mark = () => fixture.run('mark-control-plane')

  it("is kubeadm's labels and taint, beside what the Node has", async () => {
    const labels = {rack: '7'}
    await client.nodes.create({metadata: {name: 'one', labels}, spec: {taints: [OTHER]}})
    await mark()
    const {metadata, spec} = await client.nodes.get('one')
    assert.deepEqual(metadata.labels, {
      ...labels,
      [ROLE]: '',
      'node.kubernetes.io/exclude-from-external-load-balancers': '',
    })
    const taints = spec?.taints ?? []
    assert.deepEqual(taints[0], OTHER)
    assert.deepEqual(taints.at(-1), {key: ROLE, effect: 'NoSchedule'})
  })

  it('changes nothing in a second run', async () => {
    await client.nodes.create({metadata: {name: 'one'}})
    await mark()
    const before = await client.nodes.get('one')
    await mark()
    assert.deepEqual(await client.nodes.get('one'), before)
  })

  it('makes no Node, and leaves those of others alone', async () => {
    await client.nodes.create({metadata: {name: 'two'}})
    const before = (await client.nodes.list()).items
    await mark()
    assert.deepEqual((await client.nodes.list()).items, before)
    assert.deepEqual(fixture.lines, ['no Node "one" to mark as control plane'])
  })
})
