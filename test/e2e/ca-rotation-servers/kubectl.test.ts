import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describeWithKubectl, findClient, sayMissing} from '../../helpers/clients.ts'
import {startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {Kubectl} from '../../helpers/kubectl.ts'
import {KubectlUsers} from '../../helpers/kubectl-users.ts'
import {rotateIn} from '../../helpers/rotating.ts'
import {startSeveral, type SeveralServers} from '../../helpers/several-servers.ts'
import {untilSame} from './support.ts'

describeWithKubectl('1.36', 'a rotation of the CAs of three servers', function (binary) {
  this.timeout(300_000)
  let etcd: EtcdCluster | undefined
  let several: SeveralServers | undefined
  let home = ''

  before(async function () {
    if (findClient('etcd') === undefined) {
      sayMissing('etcd')
      this.skip()
    }
    etcd = await startEtcd()
    several = await startSeveral(3, ['--etcd-servers', etcd.servers.join(',')])
    home = await mkdtemp(join(tmpdir(), 'trustadm-kubectl-'))
  })
  after(async () => {
    try {
      await several?.stop()
    } finally {
      await etcd?.stop()
      if (home !== '') await rm(home, {recursive: true, force: true})
    }
  })

  it('fails no command and cuts no watch behind the balancer', async () => {
    assert.ok(several)
    const {first, machines, balancer} = several
    const kubectl = new Kubectl({binary, kubeconfig: first.kubeconfig, home})
    const rotate = async (machine: number, action: string) => {
      const {dir = ''} = machines[machine] ?? {}
      const known = action === 'complete' ? ['--ignore', 'replaced-here,kubernetes-admin'] : []
      const ended = await rotateIn(dir, action, '--yes', '--wait', ...known)
      assert.equal(ended.code, 0, ended.stderr)
    }
    // Who came with an old certificate stays until the completion; who comes later has a new one.
    for (const actions of [['start', 'abort'], ['start'], ['complete']]) {
      // The balancer gives each of their connections to another server.
      const users = machines.map(() => new KubectlUsers(kubectl))
      const all = (wait: (user: KubectlUsers) => Promise<void>) => Promise.all(users.map(wait))
      const name = `after-${actions.join('-')}`
      try {
        await all((user) =>
          user.until('a first answer', ({seen, answered}) => seen !== '' && answered > 0),
        )
        for (const [machine, action] of actions.entries()) {
          await rotate(machine, action)
          await all((user) => user.oneMore())
        }
        await kubectl.ok(`create configmap ${name}`)
        await all((user) => user.until(`not watched: ${name}`, ({seen}) => seen.includes(name)))
      } finally {
        await all((user) => user.stop())
      }
      assert.deepEqual(
        users.flatMap(({failures}) => failures),
        [],
      )
    }
    await untilSame(machines)
    assert.equal(balancer.counts.size, machines.length)
  })
})
