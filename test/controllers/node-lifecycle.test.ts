import assert from 'node:assert/strict'
import type {Node} from '../../src/api/node.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {NodeHeartbeats} from '../../src/controllers/node-heartbeats.ts'
import {watchOver} from '../../src/controllers/node-lifecycle.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {fixedClock} from '../pki/support.ts'

const PERIOD = 5000
const SILENT = 41_000
const never = new AbortController().signal

describe('the life of a node', () => {
  let server: TestServer
  let client: ApiClient
  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  after(() => server.stop())

  const conditions = (status: string, lastHeartbeatTime: string): Node['status'] => ({
    conditions: [{type: 'Ready', status, reason: 'KubeletReady', lastHeartbeatTime}],
  })
  const lease = (name: string, renewTime: string) => ({metadata: {name}, spec: {renewTime}})

  const start = async (name: string, status: string) => {
    const clock = fixedClock()
    const heartbeats = new NodeHeartbeats(clock)
    const time = clock.now().toISOString()
    await client.nodes.create({metadata: {name}, status: conditions(status, time) ?? {}})
    const reconcile = watchOver(client, heartbeats, clock)
    const node = () => client.nodes.get(name)
    return {
      clock,
      heartbeats,
      node,
      /** Twice: what changes the condition is seen by the next, which sets the taints. */
      reconcile: async () => {
        await reconcile(name, never)
        await reconcile(name, never)
        return await node()
      },
      /** Time goes by in the steps of the controller. */
      pass: (milliseconds: number) => {
        let overdue: string[] = []
        for (let gone = 0; gone < milliseconds; gone += PERIOD) {
          clock.advance(PERIOD)
          overdue = heartbeats.overdue(PERIOD)
        }
        return overdue
      },
    }
  }
  const ready = ({status}: Node) => status?.conditions?.find(({type}) => type === 'Ready')
  const taints = ({spec}: Node) => (spec?.taints ?? []).map(({key, effect}) => `${key}:${effect}`)

  it('becomes Unknown with its taints when its Lease is not renewed for 40 s, and Ready when it returns', async () => {
    const {clock, heartbeats, reconcile, pass, node} = await start('silent', 'True')
    heartbeats.noteNode(await node())
    heartbeats.noteLease(lease('silent', '1'))
    assert.equal(ready(await reconcile())?.status, 'True')

    assert.deepEqual(pass(SILENT), ['silent'])
    const lost = await reconcile()
    assert.deepEqual(
      lost.status?.conditions?.map(({type, status, reason}) => [type, status, reason]),
      [
        ['Ready', 'Unknown', 'NodeStatusUnknown'],
        ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
        ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
        ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ],
    )
    assert.equal(ready(lost)?.message, 'Kubelet stopped posting node status.')
    assert.deepEqual(taints(lost), [
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ])

    heartbeats.noteLease(lease('silent', '2'))
    const status = conditions('True', clock.now().toISOString())
    await client.nodes.patch('silent', {status}, {type: 'strategic', subresource: 'status'})
    heartbeats.noteNode(await node())
    const back = await reconcile()
    assert.equal(ready(back)?.status, 'True')
    assert.deepEqual(taints(back), [])
    assert.deepEqual(pass(30_000), [])
  })

  it('goes on while its Lease is renewed, by the clock of the server alone', async () => {
    const {heartbeats, pass, node} = await start('alive', 'True')
    heartbeats.noteNode(await node())
    for (const renewal of [
      '2001-01-01T00:00:00Z',
      '2001-01-01T00:00:10Z',
      '2001-01-01T00:00:20Z',
    ]) {
      heartbeats.noteLease(lease('alive', renewal))
      assert.deepEqual(pass(35_000), [])
    }
    // The same Lease once more is no sign of life.
    heartbeats.noteLease(lease('alive', '2001-01-01T00:00:20Z'))
    assert.deepEqual(pass(10_000), ['alive'])
  })

  it('is not called lost if no kubelet has ever reported: the Node says that none runs', async () => {
    const {heartbeats, pass, reconcile, node} = await start('joined', 'False')
    heartbeats.noteNode(await node())
    assert.deepEqual(pass(10 * SILENT), [])
    assert.equal(ready(await reconcile())?.status, 'False')
  })

  it('is not called lost because the server slept', async () => {
    const {clock, heartbeats, pass, node} = await start('slept', 'True')
    heartbeats.noteNode(await node())
    clock.advance(3_600_000)
    assert.deepEqual(heartbeats.overdue(PERIOD), [])
    assert.deepEqual(pass(SILENT), ['slept'])
  })

  it('ends with the Node', async () => {
    const {heartbeats, pass, reconcile, node} = await start('gone', 'True')
    heartbeats.noteNode(await node())
    await client.nodes.delete('gone')
    assert.deepEqual(pass(SILENT), ['gone'])
    await assert.rejects(reconcile(), {code: 'NOT_FOUND'})
    assert.deepEqual(pass(PERIOD), [])
  })
})
