import assert from 'node:assert/strict'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {trustadm} from '../../helpers/program.ts'
import {rotateIn} from '../../helpers/rotating.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'
import {accessTo, knownAs, pki, requireSame, requireUnharmed, startClients} from './support.ts'

const KNOWN = ['replaced-here', 'kubernetes-admin', 'kubernetes-super-admin']

describeWithEtcd('a rotation of the CAs of three servers', function () {
  this.timeout(300_000)
  let etcd: EtcdCluster
  let several: SeveralServers

  before(async () => {
    etcd = await startEtcd()
    several = await startSeveral(3, ['--etcd-servers', etcd.servers.join(',')])
  })
  after(async () => {
    await several.stop()
    await etcd.stop()
  })

  const machine = (index: number) => several.machines[index] ?? assert.fail()
  const rotate = async (index: number, action: string, ...more: string[]) => {
    const ended = await rotateIn(machine(index).dir, action, '--yes', ...more)
    assert.equal(ended.code, 0, ended.stderr)
    return ended.report()
  }
  const status = async (index: number) => (await rotateIn(machine(index).dir, 'status')).report()
  /** Only the tests themselves have used old copies of admin.conf. */
  const settled = () =>
    eventually(async () => (await status(0)).dependents.every(({name}) => KNOWN.includes(name)))
  /** What a machine got handed over, after the command that did it has ended. */
  const followed = () =>
    eventually(async () => {
      const {servers = []} = await status(0)
      return servers.length > 0 && servers.every(({state}) => state === 'up to date')
    })

  it('fails no request and cuts no watch, and any machine may complete it', async () => {
    const first = await accessTo(machine(2), machine(2))
    const before = await startClients(several.machines)
    await rotate(0, 'start')
    for (const {dir} of several.machines) {
      assert.equal(parseBundle(await pki(dir, 'ca.crt')).length, 3, dir)
      assert.equal(parseBundle(await pki(dir, 'client-ca.crt')).length, 2, dir)
    }
    await requireUnharmed(before)
    assert.equal((await status(0)).servers?.length, 3)

    // People have replaced their kubeconfigs.
    const after = await startClients(several.machines)
    await settled()
    await followed()
    await rotate(1, 'complete', '--ignore', KNOWN.join())
    await requireUnharmed(after)
    await followed()
    await requireSame(several.machines)
    assert.equal(parseBundle(await pki(machine(2).dir, 'ca.crt')).length, 1)
    assert.equal(await knownAs(await accessTo(machine(2), machine(0))), 'kubernetes-admin')
    const {ca} = await accessTo(machine(2), machine(0))
    assert.equal(await knownAs({...first, ca}), '')
  })

  it('is undone on every machine', async () => {
    const before = await pki(machine(1).dir, 'ca.key')
    const clients = await startClients(several.machines)
    await rotate(1, 'start')
    await followed()
    await rotate(2, 'abort', '--wait')
    await requireUnharmed(clients)
    await followed()
    await requireSame(several.machines)
    for (const {dir} of several.machines) assert.equal(await pki(dir, 'ca.key'), before)
  })

  it('is caught up by a server that was off before it serves', async () => {
    const late = machine(2)
    const old = await accessTo(late, late)
    assert.equal((await trustadm('stop', '--dir', late.dir)).code, 0)
    await rotate(0, 'start')
    // Whom only the server has seen that is off, nobody knows.
    const more = ['--yes', '--ignore', KNOWN.join()]
    const refused = await rotateIn(machine(0).dir, 'complete', ...more)
    assert.equal(refused.code, 6)
    assert.match(
      refused.stderr,
      /the list of clients of apiserver-\w+ on .* cannot be read: it is off/,
    )
    await rotate(0, 'complete', '--force')
    assert.notEqual(await pki(late.dir, 'ca.crt'), await pki(machine(0).dir, 'ca.crt'))
    const started = await trustadm('start', '--dir', late.dir)
    assert.equal(started.code, 0, started.stderr)
    await requireSame(several.machines)
    const current = await accessTo(late, machine(0))
    assert.equal(await knownAs(current), 'kubernetes-admin')
    assert.equal(await knownAs(await accessTo(late, late)), 'kubernetes-admin')
    assert.equal(await knownAs({...old, ca: current.ca}), '')
  })
})
