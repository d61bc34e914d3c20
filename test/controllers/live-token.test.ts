import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {approverOpinions} from '../../src/controllers/approval/opinions.ts'
import {csrApproverController} from '../../src/controllers/csr-approver.ts'
import {startController, type RunningController} from '../../src/controllers/kernel/controller.ts'
import {stateOf} from '../../src/csr/conditions.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'
import {BOOTSTRAPPER, bindApprovals, createBootstrapperToken, submit} from './approval/support.ts'

const HOUR = 3_600_000
const SECRET = 'kube-system/bootstrap-token-abcdef'

describe('the approver of a request that was made with a bootstrap token', () => {
  let server: TestServer
  let admin: ApiClient
  let running: RunningController
  let later: number
  let reads: number
  const clock = {now: () => new Date(Date.now() + later)}

  beforeEach(async () => {
    later = 0
    reads = 0
    server = await startTestServer({controllers: false, clock})
    admin = server.clientAs(ADMIN)
    await bindApprovals(admin)
    await createBootstrapperToken(admin)
  })
  afterEach(async () => {
    await running.close()
    await server.stop()
    assert.deepEqual(server.errors, [])
  })

  async function start(): Promise<void> {
    const reader = server.clientAs({username: 'system:kube-controller-manager', groups: []})
    const username = 'system:serviceaccount:kube-system:certificate-controller'
    const writer = server.clientAs({username, groups: ['system:serviceaccounts']})
    const {secrets} = reader
    const {find} = secrets
    secrets.find = (...args) => {
      reads++
      return find.apply(secrets, args)
    }
    running = startController(
      csrApproverController(reader, writer, {clock, tokens: secrets}),
      (name, key, error) => server.errors.push(`${name} ${key}: ${String(error)}`),
    )
    await running.synced
  }

  const ask = (name: string) =>
    submit(server.clientAs(BOOTSTRAPPER), {name, commonName: `system:node:${name}`})
  const becomes = (name: string, state: string) =>
    until(async () => stateOf(await admin.csrs.get(name)) === state)
  const heldFor = (name: string, why: RegExp) =>
    until(async () => {
      const {items} = await admin.events.list({namespace: 'default'})
      return items.some(
        ({involvedObject, reason, message = ''}) =>
          involvedObject.name === name && reason === 'CredentialRevoked' && why.test(message),
      )
    })

  it('says the same to whoever asks what it thinks of the request', async () => {
    await start()
    const csr = await ask('n1')
    const opinionNow = async () => {
      const all = await approverOpinions(admin, csr, {clock})
      return all.find(({approver}) => approver === 'nodeclient')?.decision
    }
    assert.equal(await opinionNow(), 'approve')
    await admin.secrets.delete(SECRET)
    assert.equal(await opinionNow(), 'hold')
  })

  it('approves it while the token is there, without a look at it', async () => {
    await start()
    await ask('n1')
    await becomes('n1', 'Approved')
    assert.equal(reads, 0)
  })

  it('holds it once the token is deleted, and approves it if there is a token again', async () => {
    await ask('n1')
    await admin.secrets.delete(SECRET)
    await start()
    await heldFor('n1', /the token abcdef is gone/)
    assert.equal(stateOf(await admin.csrs.get('n1')), 'Pending')
    await createBootstrapperToken(admin)
    await becomes('n1', 'Approved')
  })

  it('holds it once the token has expired', async () => {
    await ask('n1')
    later = 2 * HOUR
    await start()
    await heldFor('n1', /the token abcdef cannot be used any more/)
    assert.equal(stateOf(await admin.csrs.get('n1')), 'Pending')
  })
})
