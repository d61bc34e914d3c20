import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parse, stringify} from 'yaml'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import type {ExistingResult} from '../../src/control-plane/existing/init.ts'
import {eventually} from '../controllers/signing/support.ts'
import {Plane} from '../helpers/plane.ts'
import {trustadm} from '../helpers/program.ts'
import {startProgram} from '../helpers/running-program.ts'

const OURS = 'rbac,kubeadm-config,cluster-info,bootstrap-token'
interface Kubeconfig {
  clusters: [{cluster: object}]
  users: [{user: object}]
}

const NOBODY = '*,-bootstrap-signer,-token-cleaner'

describe('init on an existing cluster, with the built program', function () {
  this.timeout(90_000)
  let plane: Plane
  let admin: ApiClient
  let kubeconfig = ''
  let folder = ''

  before(async () => {
    plane = await Plane.start('--skip-phases', OURS)
    kubeconfig = join(plane.cluster.dir, 'super-admin.conf')
    admin = await connect(kubeconfig)
    folder = await mkdtemp(join(tmpdir(), 'trustadm-existing-'))
  })
  after(async () => {
    await admin.close()
    await plane.stop()
    await rm(folder, {recursive: true, force: true})
  })

  async function prepareWith(chosen: string[], ...more: string[]) {
    const {code, stdout, stderr} = await trustadm('init', ...chosen, '--output', 'json', ...more)
    assert.equal(code, 0, stderr)
    return {...(JSON.parse(stdout) as ExistingResult), stderr}
  }
  const prepare = (...more: string[]) => prepareWith(['--kubeconfig', kubeconfig], ...more)

  /** Flags that choose this cluster in a kubeconfig whose current context is another one. */
  async function choiceOfSeveral(): Promise<string[]> {
    const config = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig
    const [{cluster}] = config.clusters
    const [{user}] = config.users
    const nobody = {name: 'nobody', user: {token: 'none'}}
    const elsewhere = {name: 'elsewhere', cluster: {...cluster, server: 'https://192.0.2.1:6443'}}
    const context = {cluster: 'elsewhere', user: 'nobody'}
    const file = join(folder, 'several.conf')
    const several = {
      ...config,
      clusters: [elsewhere, {name: 'this', cluster}],
      users: [nobody, {name: 'administrator', user}],
      contexts: [
        {name: 'other', context},
        {name: 'wanted', context},
      ],
      'current-context': 'other',
    }
    await writeFile(file, stringify(several), {mode: 0o600})
    const names = ['--context', 'wanted', '--cluster', 'this', '--user', 'administrator']
    return ['--kubeconfig', file, ...names]
  }

  /** Every object that `init` may touch, with its version. */
  async function versions(): Promise<Record<string, string | undefined>> {
    const lists = await Promise.all([
      admin.configMaps.list({namespace: 'kube-system'}),
      admin.configMaps.list({namespace: 'kube-public'}),
      admin.secrets.list({namespace: 'kube-system'}),
      admin.roles.list(),
      admin.roleBindings.list(),
      admin.clusterRoles.list(),
      admin.clusterRoleBindings.list(),
    ])
    return Object.fromEntries(
      lists.flatMap(({items}) =>
        items.map(({kind, metadata: {namespace = '', name = '', resourceVersion}}) => [
          `${kind ?? ''} ${namespace}/${name}`,
          resourceVersion,
        ]),
      ),
    )
  }

  it('shows what it would do, and changes nothing', async () => {
    // What controllers write soon after the start, on etcd once they have their Lease.
    for (const namespace of ['kube-system', 'kube-public'])
      await eventually(() => admin.configMaps.find({namespace, name: 'kube-root-ca.crt'}))
    const before = await versions()
    const {code, stdout} = await trustadm('init', '--kubeconfig', kubeconfig, '--dry-run')
    assert.equal(code, 0)
    assert.match(stdout, /\[cluster-info\] would create or update the ConfigMap kube-public/)
    assert.match(stdout, /\[bootstrap-token\] would create a token/)
    assert.deepEqual(await versions(), before)
  })

  it('makes a join command with which a machine joins', async () => {
    const {joinCommand, missingControllers, uncheckedControllers, token, stderr} = await prepare()
    assert.deepEqual(missingControllers, [])
    assert.deepEqual(
      uncheckedControllers.map(({controller}) => controller),
      ['token-cleaner'],
    )
    assert.doesNotMatch(stderr, /cannot tell/)
    const {stderr: verbose} = await prepare('--verbose')
    assert.match(verbose, /cannot tell whether somebody runs token-cleaner in this cluster/)
    assert.match(token ?? '', /^[a-z0-9]{6}\.[a-z0-9]{16}$/)
    const [, ...words] = (joinCommand ?? '').split(' ')
    const joined = await trustadm(...words, '--dir', join(folder, 'node'), '--node-name', 'machine')
    assert.equal(joined.code, 0, joined.stderr)
    assert.equal((await admin.nodes.get('machine')).metadata.name, 'machine')
  })

  it('changes nothing in a second run, and prints the same token', async () => {
    const before = await versions()
    const first = await prepare()
    const again = await prepare()
    assert.equal(again.joinCommand, first.joinCommand)
    assert.deepEqual(await versions(), before)
  })

  it('keeps what an operator has added or changed, and adds only what is missing', async () => {
    const subject = {apiGroup: 'rbac.authorization.k8s.io', kind: 'Group' as const, name: 'more'}
    const binding = await admin.clusterRoleBindings.get('kubeadm:get-nodes')
    await admin.clusterRoleBindings.update({...binding, subjects: [subject]})
    const role = await admin.clusterRoles.get('kubeadm:get-nodes')
    const wider = [{apiGroups: ['*'], resources: ['nodes', 'pods'], verbs: ['get', 'list']}]
    await admin.clusterRoles.update({...role, rules: wider})
    const config = await admin.configMaps.get({namespace: 'kube-system', name: 'kubeadm-config'})
    const data = {ClusterConfiguration: 'kind: ClusterConfiguration\n'}
    await admin.configMaps.update({...config, data})
    await prepare()
    const {subjects = []} = await admin.clusterRoleBindings.get('kubeadm:get-nodes')
    assert.deepEqual(
      subjects.map(({name}) => name),
      ['more', 'system:bootstrappers:kubeadm:default-node-token'],
    )
    assert.deepEqual((await admin.clusterRoles.get('kubeadm:get-nodes')).rules, wider)
    const kept = await admin.configMaps.get({namespace: 'kube-system', name: 'kubeadm-config'})
    assert.deepEqual(kept.data, data)
  })

  it('keeps the address in cluster-info, and replaces one that no machine can read', async () => {
    const key = {namespace: 'kube-public', name: 'cluster-info'}
    const found = await admin.configMaps.get(key)
    const text = found.data?.kubeconfig ?? ''
    const balanced = text.replace(/server: .*/, 'server: https://balancer.example.com:6443')
    await admin.configMaps.update({...found, data: {...found.data, kubeconfig: balanced}})
    const {stderr} = await prepare()
    assert.match(stderr, /names the server https:\/\/balancer\.example\.com:6443/)
    const kept = await admin.configMaps.get(key)
    assert.equal(kept.data?.kubeconfig, balanced)
    await admin.configMaps.update({...kept, data: {...kept.data, kubeconfig: 'nonsense'}})
    await prepare()
    assert.equal((await admin.configMaps.get(key)).data?.kubeconfig, text)
  })

  it('never replaces a binding of another role', async () => {
    const name = 'kubeadm:kubelet-bootstrap'
    const {roleRef, subjects} = await admin.clusterRoleBindings.get(name)
    await admin.clusterRoleBindings.delete(name)
    await admin.clusterRoleBindings.create({
      metadata: {name},
      roleRef: {...roleRef, name: 'view'},
      subjects: [],
    })
    const ended = await trustadm('init', 'phase', 'rbac', '--kubeconfig', kubeconfig)
    assert.equal(ended.code, 6, ended.stderr)
    assert.match(ended.stderr, /"kubectl delete clusterrolebinding kubeadm:kubelet-bootstrap"/)
    await admin.clusterRoleBindings.delete(name)
    await admin.clusterRoleBindings.create({metadata: {name}, roleRef, subjects: subjects ?? []})
  })

  it('runs one phase alone', async () => {
    await admin.configMaps.delete({namespace: 'kube-system', name: 'kubelet-config'})
    const ended = await trustadm('init', 'phase', 'kubeadm-config', '--kubeconfig', kubeconfig)
    assert.equal(ended.code, 0, ended.stderr)
    assert.match(ended.stderr, /ConfigMap kube-system\/kubelet-config was created/)
    const token = await trustadm('init', 'phase', 'bootstrap-token', '--kubeconfig', kubeconfig)
    assert.match(token.stdout, /^trustadm join 127\.0\.0\.1:\d+ --token /)
  })

  it('names the same cluster in the command that creates a token', async () => {
    const chosen = await choiceOfSeveral()
    const {code, stdout, stderr} = await trustadm('init', ...chosen, '--skip-token-print')
    assert.equal(code, 0, stderr)
    const line = `trustadm token create --print-join-command ${chosen.join(' ')}`
    assert.ok(stdout.includes(`${line}\n`), stdout)
  })

  it('refuses phases and flags of a new control plane', async () => {
    const phase = await trustadm('init', 'phase', 'certs', '--kubeconfig', kubeconfig)
    assert.equal(phase.code, 2)
    assert.match(phase.stderr, /"certs" works only with a control plane on this machine/)
    const flag = await trustadm('init', '--kubeconfig', kubeconfig, '--bind-address', '127.0.0.1')
    assert.equal(flag.code, 2)
    assert.match(flag.stderr, /--bind-address cannot be used with --kubeconfig/)
  })

  it('says which controllers nobody runs, with the line that runs ours, which then works', async () => {
    await plane.restart(undefined, '--controllers', NOBODY)
    const chosen = await choiceOfSeveral()
    const {stdout} = await trustadm('token', 'generate')
    const wanted = stdout.trim()
    const {missingControllers, joinCommand, token} = await prepareWith(chosen, '--token', wanted)
    assert.deepEqual(
      missingControllers.map(({controller}) => controller),
      ['bootstrap-signer', 'token-cleaner'],
    )
    assert.match(missingControllers[0]?.reason ?? '', /no kube-controller-manager holds its Lease/)
    assert.equal(token, wanted)
    const {command = ''} = missingControllers[0] ?? {}
    const [, ...words] = command.split(' ')
    const names = 'bootstrap-signer,token-cleaner'
    assert.deepEqual(words, ['controllers', '--controllers', names, ...chosen])
    const running = await startProgram(/^ready /, ...words)
    try {
      const [, ...line] = (joinCommand ?? '').split(' ')
      const joined = await trustadm(...line, '--dir', join(folder, 'late'), '--node-name', 'late')
      assert.equal(joined.code, 0, joined.stderr)
    } finally {
      await running.stop()
    }
  })
})
