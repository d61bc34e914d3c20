import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {Simulation} from '../../src/control-plane/requests/simulate.ts'
import {run} from '../cli/program.ts'
import {foreignCredential} from '../controllers/approval/machine-cases.ts'
import {bindApprovals} from '../controllers/approval/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

describe('certificate simulate', () => {
  let server: TestServer
  let admin: ApiClient
  let folder = ''
  let kubeconfig = ''
  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    await bindApprovals(admin)
    folder = await mkdtemp(join(tmpdir(), 'trustadm-simulate-'))
    kubeconfig = join(folder, 'admin.conf')
    const content = await server.kubeconfigFor('admin', ['system:masters'])
    await writeFile(kubeconfig, content, {mode: 0o600})
  })
  after(async () => {
    await server.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const simulate = (...more: string[]) =>
    run('certificate', 'simulate', '--kubeconfig', kubeconfig, ...more)
  const result = async (...more: string[]) => {
    const {stdout, exit} = await simulate('--output', 'json', ...more)
    return {...(JSON.parse(stdout) as Simulation), exit}
  }
  const token = async (...more: string[]) => {
    const made = await run('token', 'create', '--kubeconfig', kubeconfig, '-o', 'name', ...more)
    return made.stdout.trim()
  }

  it('says that a new machine would get in with a token, and leaves nothing behind', async () => {
    const id = await token()
    const {ways, exit} = await result('--node', 'w1', '--token-id', id)
    assert.equal(exit, 0)
    assert.deepEqual(
      ways.map(({by, outcome}) => ({by, outcome})),
      [{by: `token ${id}`, outcome: 'approved'}],
    )
    assert.deepEqual((await admin.csrs.list()).items, [])
    const {stdout} = await simulate('--node', 'w1', '--token-id', id)
    assert.match(stdout, /node "w1" would get a certificate at once/)
    assert.match(stdout, /✔ nodeclient would approve it/)
  })

  it('says that a token cannot be used, or does not exist', async () => {
    const id = await token('--usages', 'signing')
    const {ways, exit} = await result('--node', 'w1', '--token-id', id)
    assert.equal(exit, 1)
    assert.equal(ways[0]?.outcome, 'refused')
    const gone = await result('--node', 'w1', '--token-id', 'zzzzz9')
    assert.deepEqual(gone.ways[0]?.problems, [
      'there is no such token',
      'it may not create certificate requests',
    ])
  })

  it('says that the name is taken', async () => {
    await admin.nodes.create({metadata: {name: 'taken'}})
    const {stdout, exit} = await simulate('--node', 'taken')
    assert.equal(exit, 1)
    assert.match(stdout, /With a token of the default group, node "taken" would wait for a person/)
    assert.match(stdout.replaceAll(/\s+/g, ' '), /a Node of that name exists/)
  })

  it('says by the Machines whether a bootstrap credential would get a machine in', async () => {
    await admin.secrets.create(foreignCredential())
    await admin.clusterRoleBindings.create({
      metadata: {name: 'fleet'},
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:node-bootstrapper',
      },
      subjects: [{kind: 'ServiceAccount', namespace: 'kube-system', name: 'node-bootstrapper'}],
    })
    const {ways} = await result('--node', 'w2')
    const by = ways[1]?.by ?? ''
    assert.match(by, /^credential /)
    assert.deepEqual(
      ways.map(({outcome}) => outcome),
      ['approved', 'held'],
    )
    await run('machine', 'create', 'w2', '--kubeconfig', kubeconfig)
    const expected = await simulate('--node', 'w2', '--credential', by.replace('credential ', ''))
    assert.equal(expected.exit, 0)
    assert.match(expected.stdout, /✔ machine-approver would approve it/)
  })

  it('refuses what is no node’s name, and a credential that is not live', async () => {
    assert.equal((await simulate('--node', 'W_1')).exit, 2)
    const {stderr, exit} = await simulate('--node', 'w1', '--credential', 'none')
    assert.equal(exit, 1)
    assert.match(stderr, /there is no live bootstrap credential "none"/)
  })
})
