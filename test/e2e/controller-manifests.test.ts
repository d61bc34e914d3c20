import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parseAllDocuments, stringify} from 'yaml'
import type {ApiObject} from '../../src/api/meta.ts'
import type {Pod} from '../../src/api/pod.ts'
import {buildKubeconfig} from '../../src/client/kubeconfig-build.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {formatKubeconfig} from '../../src/client/kubeconfig.ts'
import {describeWithKubectl} from '../helpers/clients.ts'
import {sharedCluster, type Cluster} from '../helpers/cluster.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {trustadm} from '../helpers/program.ts'
import {startProgram} from '../helpers/running-program.ts'

const read = (text: string): ApiObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as ApiObject)

describe('manifests for controllers, with the built program', function () {
  this.timeout(60_000)

  it('contain the Deployment only on request, and never the signer', async () => {
    const rbac = await trustadm('controllers', '--print-rbac', '--controllers', 'token-cleaner')
    assert.equal(rbac.code, 0, rbac.stderr)
    assert.deepEqual(
      read(rbac.stdout).map(({kind}) => kind),
      [
        ...['Namespace', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'],
        // In kube-system, and for its lease in trustadm-system.
        ...['Role', 'RoleBinding', 'Role', 'RoleBinding'],
      ],
    )
    const all = await trustadm('controllers', '--deployment', '--image', 'example.com/trustadm:1')
    assert.match(all.stderr, /csr-signer is left out/)
    assert.equal(all.stdout.includes('csr-signer'), false)
    assert.match(all.stdout, /image: example\.com\/trustadm:1/)
    assert.doesNotMatch(all.stdout, /[&*]a\d/)
    const signer = await trustadm('controllers', '--deployment', '--controllers', 'csr-signer')
    assert.equal(signer.code, 2)
    assert.match(signer.stderr, /needs a CA's key and a log/)
  })

  describeWithKubectl('1.36', 'manifests for controllers', function (binary) {
    this.timeout(60_000)
    let cluster: Cluster
    let kubectl: Kubectl
    let folder = ''
    before(async () => {
      cluster = await sharedCluster()
      folder = await mkdtemp(join(tmpdir(), 'trustadm-manifests-'))
      kubectl = new Kubectl({binary, kubeconfig: cluster.kubeconfig, home: folder})
    })
    after(() => rm(folder, {recursive: true, force: true}))

    it('are accepted by a server, the Deployment as the Pod that it runs', async () => {
      const {stdout} = await trustadm('controllers', '--print-rbac', '--deployment')
      const objects = read(stdout)
      const deployment = objects.find(({kind}) => kind === 'Deployment')
      const others = objects.filter((one) => one !== deployment)
      const {metadata, spec} = (deployment?.spec as {template: Pod}).template
      const {priorityClassName: _, ...podSpec} = spec as Record<string, unknown>
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {...metadata, name: 'controllers', namespace: 'kube-system'},
        spec: podSpec,
      }
      await kubectl.ok('apply -f -', {input: others.map((one) => stringify(one)).join('---\n')})
      const input = stringify(pod)
      await kubectl.ok('apply --dry-run=server --validate=strict -f -', {input})
    })

    it('give controllers all the rights that they check at their start', async () => {
      const chosen = ['--controllers', '*,-csr-signer']
      const {stdout} = await trustadm('controllers', '--print-rbac', ...chosen)
      await kubectl.ok('apply -f -', {input: stdout})
      const account = 'trustadm-controllers --namespace kube-system'
      const token = (await kubectl.ok(`create token ${account}`)).trim()
      const {server, ca} = await resolveAccess(await readKubeconfig(cluster.kubeconfig))
      const config = buildKubeconfig({server, ca, userName: 'controllers', credentials: {token}})
      const path = join(folder, 'controllers.conf')
      await writeFile(path, formatKubeconfig(config), {mode: 0o600})
      const running = await startProgram(
        /^ready /,
        ...['controllers', '--kubeconfig', path, ...chosen],
      )
      await running.stop()
      assert.equal(/warning|error/.test(running.stderr()), false, running.stderr())
    })
  })
})
