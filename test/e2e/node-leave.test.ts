import assert from 'node:assert/strict'
import {lstat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {stringify} from 'yaml'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {LeaveReport} from '../../src/node/leave.ts'
import {joinFixture, joinedBy, parseResult, type JoinFixture} from '../helpers/joining.ts'
import {trustadm} from '../helpers/program.ts'

const isThere = (path: string) => lstat(path).then(Boolean, () => false)

describe('node leave, with the built program', function () {
  this.timeout(60_000)
  let fixture: JoinFixture
  let admin: ApiClient
  before(async () => {
    fixture = await joinFixture()
    admin = await connect(fixture.made.kubeconfig)
  })
  after(async () => {
    await admin.close()
    await fixture.remove()
  })

  it('asks first, and a script has to say yes', async () => {
    await joinedBy(fixture, 'token', 'asked')
    const {code, stderr} = await trustadm('node', 'leave', '--dir', fixture.nodeDir('asked'))
    assert.equal(code, 2)
    assert.match(stderr, /Take the node "asked" out of its cluster/)
    assert.equal(await isThere(fixture.nodeDir('asked')), true)
  })

  it('only says what it would do in a dry run', async () => {
    const {kubeconfig} = await joinedBy(fixture, 'token', 'planned')
    const dir = fixture.nodeDir('planned')
    const {code, stdout} = await trustadm('node', 'leave', '--dry-run', '--dir', dir)
    assert.equal(code, 0)
    assert.match(stdout, /would delete the Node "planned", if allowed/)
    assert.ok(stdout.includes(`would remove ${kubeconfig ?? ''}\n`))
    assert.equal(await isThere(kubeconfig ?? ''), true)
  })

  it('removes the files, and names the commands for an operator', async () => {
    await joinedBy(fixture, 'token', 'gone')
    const dir = fixture.nodeDir('gone')
    const {code, stdout, stderr} = await trustadm('node', 'leave', '--yes', '--dir', dir)
    assert.equal(code, 0, stderr)
    assert.equal(await isThere(dir), false)
    assert.match(stdout, /the Node "gone" is still in the cluster: .*do not allow it\n/)
    assert.match(stdout, /^ {2}kubectl delete node gone$/m)
    assert.match(stdout, /^ {2}trustadm certificate allow-rejoin gone$/m)
    const [, record = ''] =
      /kubectl --namespace trustadm-system delete configmap (\S+)/.exec(stdout) ?? []
    assert.ok(await admin.nodes.get('gone'))
    assert.ok(await admin.configMaps.get({namespace: 'trustadm-system', name: record}))
  })

  it('deletes the Node and the record of its name with the kubeconfig of an operator', async () => {
    await joinedBy(fixture, 'token', 'deleted')
    const dir = fixture.nodeDir('deleted')
    const words = ['--yes', '--dir', dir, '--kubeconfig', fixture.made.kubeconfig]
    const report = parseResult(
      await trustadm('node', 'leave', ...words, '--output', 'json'),
    ) as LeaveReport
    assert.equal(report.cluster?.node, 'deleted')
    assert.equal(report.cluster.record, 'deleted')
    assert.equal(await admin.nodes.find('deleted'), undefined)
    // The name is free: a machine with another key joins with it, and nobody has to allow that.
    await joinedBy(fixture, 'token', 'deleted')
    assert.ok(await admin.nodes.get('deleted'))
  })

  it('uses the entries of the kubeconfig that are named, and nothing without --kubeconfig', async () => {
    await joinedBy(fixture, 'token', 'chosen')
    const dir = fixture.nodeDir('chosen')
    const config = await readKubeconfig(fixture.made.kubeconfig)
    const context = {cluster: 'elsewhere', user: 'nobody'}
    const [{cluster} = {}, ...noClusters] = config.clusters
    const [{user} = {}, ...noUsers] = config.users
    assert.deepEqual([noClusters, noUsers], [[], []])
    const several = {
      clusters: [
        {name: 'elsewhere', cluster: {server: 'https://127.0.0.1:1'}},
        {name: 'this', cluster},
      ],
      users: [
        {name: 'nobody', user: {}},
        {name: 'operator', user},
      ],
      contexts: [
        {name: 'other', context: {cluster: 'none', user: 'none'}},
        {name: 'wanted', context},
      ],
      'current-context': 'other',
    }
    const file = join(fixture.folder, 'several.conf')
    await writeFile(file, stringify(several), {mode: 0o600})
    const entries = ['--context', 'wanted', '--cluster', 'this', '--user', 'operator']
    const leave = ['node', 'leave', '--yes', '--dir', dir, ...entries]
    const alone = await trustadm(...leave)
    assert.equal(alone.code, 2)
    assert.match(alone.stderr, /--kubeconfig/)
    const timeout = ['--request-timeout', 'soon']
    const wrong = await trustadm(...leave, '--kubeconfig', file, ...timeout)
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /--request-timeout/)
    const ended = await trustadm(...leave, '--kubeconfig', file, '--request-timeout', '1m')
    assert.equal(ended.code, 0, ended.stderr)
    assert.equal(await admin.nodes.find('chosen'), undefined)
  })

  it('is what reset does in the folder of a node, where status shows the node', async () => {
    await joinedBy(fixture, 'token', 'reset')
    const dir = fixture.nodeDir('reset')
    const status = await trustadm('status', '--dir', dir, '--output', 'json')
    assert.equal((parseResult(status) as {nodeName: string}).nodeName, 'reset')
    const {code, stdout} = await trustadm('reset', '--yes', '--dir', dir)
    assert.equal(code, 0)
    assert.match(stdout, /kubectl delete node reset/)
    assert.equal(await isThere(dir), false)
    const again = await trustadm('reset', '--yes', '--dir', dir)
    assert.equal(again.code, 1)
    assert.match(again.stderr, /there is no control plane/)
  })
})
