import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describeWithKubectl} from '../helpers/clients.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {KubectlUsers} from '../helpers/kubectl-users.ts'
import {trustadm} from '../helpers/program.ts'
import {VERSIONS} from './versions.ts'

for (const {version} of VERSIONS) {
  describeWithKubectl(version, 'a rotation of the CAs', function (binary) {
    this.timeout(120_000)
    let cluster: Cluster
    let home: string
    before(async () => {
      cluster = await startCluster()
      home = await mkdtemp(join(tmpdir(), 'trustadm-kubectl-'))
    })
    after(async () => {
      await cluster.stop()
      await rm(home, {recursive: true, force: true})
    })

    it('fails no command and cuts no watch', async () => {
      const kubectl = new Kubectl({binary, kubeconfig: cluster.kubeconfig, home})
      // Who came with an old certificate stays until the completion; who comes later has a new one.
      for (const actions of [['start', 'abort'], ['start'], ['complete']]) {
        const user = new KubectlUsers(kubectl)
        try {
          await user.until('a first answer', ({seen, answered}) => seen !== '' && answered > 0)
          for (const action of actions) {
            const place = ['--dir', cluster.dir]
            // The old certificate is in use, as far as anybody knows, until a person says that it is not.
            const known =
              action === 'complete' ? ['--ignore', 'replaced-here,kubernetes-admin'] : []
            const args = [action, ...place, '--yes', '--wait', ...known]
            const ended = await trustadm('ca', 'rotate', ...args)
            assert.equal(ended.code, 0, ended.stderr)
            await user.oneMore()
          }
          const name = `after-${actions.join('-')}`
          await kubectl.ok(`create configmap ${name}`)
          await user.until(`not watched: ${name}`, ({seen}) => seen.includes(name))
        } finally {
          await user.stop()
        }
        assert.deepEqual(user.failures, [])
      }
    })
  })
}
