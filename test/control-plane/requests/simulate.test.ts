import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {simulateJoin} from '../../../src/control-plane/requests/simulate.ts'
import {systemClock} from '../../../src/runtime.ts'
import {bindApprovals} from '../../controllers/approval/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'

describe('simulating a join where kube-controller-manager approves', () => {
  let server: TestServer
  let admin: ApiClient
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    await bindApprovals(admin)
    await admin.leases.create({
      metadata: {namespace: 'kube-system', name: 'kube-controller-manager'},
      spec: {
        holderIdentity: 'cp1',
        leaseDurationSeconds: 3600,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    })
  })
  afterEach(() => server.stop())

  const simulate = async (client: ApiClient, node: string) => {
    const {ways} = await simulateJoin(client, {node}, systemClock)
    const [way] = ways
    return way ?? assert.fail('no way was tried')
  }
  const foreign = (): ApiClient => ({
    ...admin,
    version: () => Promise.resolve({major: '1', minor: '36', gitVersion: 'v1.36.4'}),
  })

  it('says that it gives the name of a node to a new key, and that this takes it over', async () => {
    await admin.nodes.create({metadata: {name: 'w1'}})
    const {outcome, takesOver, approvers} = await simulate(foreign(), 'w1')
    assert.equal(outcome, 'approved')
    assert.match(takesOver ?? '', /a Node of that name exists/)
    assert.ok(
      approvers.some(
        ({approver, decision}) =>
          approver === 'nodeclient of kube-controller-manager' && decision === 'approve',
      ),
    )
  })

  it('says nothing of a takeover if the name is free', async () => {
    const {outcome, takesOver} = await simulate(foreign(), 'w2')
    assert.deepEqual({outcome, takesOver}, {outcome: 'approved', takesOver: null})
  })

  it("speaks for csr-approver on trustadm's own server, whoever holds that Lease", async () => {
    await admin.nodes.create({metadata: {name: 'w1'}})
    const {outcome, takesOver} = await simulate(admin, 'w1')
    assert.deepEqual({outcome, takesOver}, {outcome: 'held', takesOver: null})
  })
})
