import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {MachineReport} from '../../src/control-plane/machines/list.ts'
import {expectedRecord} from '../../src/controllers/approval/expected-record.ts'
import {run} from '../cli/program.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const NAMESPACE = 'kube-system'

describe('machine', () => {
  let server: TestServer
  let admin: ApiClient
  let folder = ''
  let kubeconfig = ''
  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    folder = await mkdtemp(join(tmpdir(), 'trustadm-machine-'))
    kubeconfig = join(folder, 'admin.conf')
    const content = await server.kubeconfigFor('admin', ['system:masters'])
    await writeFile(kubeconfig, content, {mode: 0o600})
  })
  after(async () => {
    await server.stop()
    await rm(folder, {recursive: true, force: true})
  })
  afterEach(() => admin.machines.deleteCollection({namespace: NAMESPACE}))

  const machine = (command: string, ...more: string[]) =>
    run('machine', command, '--kubeconfig', kubeconfig, ...more)
  const listed = async () => {
    const {stdout} = await machine('list', '--output', 'json')
    return (JSON.parse(stdout) as {machines: MachineReport[]}).machines
  }
  const inventory = async (content: string, name = 'inventory.csv') => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
  const UNTIL = /expected until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/

  describe('create', () => {
    it('adds a machine with its names and addresses', async () => {
      const {stdout, stderr, exit} = await machine(
        'create',
        'w1',
        ...['--dns', 'W1.example.com.,w1', '--address', 'FD00::1', '--provider-id', 'aws:///i-1'],
      )
      assert.match(stdout, /^machine "kube-system\/w1" created, expected until/)
      assert.match(stdout, UNTIL)
      assert.deepEqual({stderr, exit}, {stderr: '', exit: 0})
      const {spec, status} = await admin.machines.get({namespace: NAMESPACE, name: 'w1'})
      assert.deepEqual(spec, {providerID: 'aws:///i-1'})
      assert.deepEqual(status?.addresses, [
        {type: 'InternalDNS', address: 'w1.example.com'},
        {type: 'InternalDNS', address: 'w1'},
        {type: 'InternalIP', address: 'fd00::1'},
      ])
    })

    it('takes the name as the DNS name, and changes nothing the second time', async () => {
      await machine('create', 'w1')
      const before = await admin.machines.get({namespace: NAMESPACE, name: 'w1'})
      const {stdout, exit} = await machine('create', 'w1')
      assert.match(stdout, /^machine "kube-system\/w1" unchanged/)
      assert.equal(exit, 0)
      assert.deepEqual(await admin.machines.get({namespace: NAMESPACE, name: 'w1'}), before)
    })

    it('completes a machine whose creation was interrupted', async () => {
      await admin.machines.create({metadata: {namespace: NAMESPACE, name: 'w1'}})
      const {stdout} = await machine('create', 'w1')
      assert.match(stdout, /^machine "kube-system\/w1" completed/)
      assert.deepEqual((await listed())[0]?.dns, ['w1'])
    })

    it('refuses to change a machine, and names that another has', async () => {
      await machine('create', 'w1', '--address', '10.0.0.1')
      const changed = await machine('create', 'w1', '--address', '10.0.0.2')
      assert.equal(changed.exit, 6)
      assert.match(changed.stderr, /Machine "kube-system\/w1" exists with other names/)
      const other = await machine('create', 'w2', '--dns', 'w1', '--address', '10.0.0.1')
      assert.equal(other.exit, 6)
      assert.match(other.stderr, /the DNS name "w1" is also that of Machine "kube-system\/w1"; the/)
      assert.equal((await listed()).length, 1)
    })

    it('refuses what is no name or address', async () => {
      const {stderr, exit} = await machine('create', 'W_1', '--address', '10.0.0.256')
      assert.equal(exit, 2)
      assert.match(stderr, /"W_1" is not a valid name for a Machine.*"10\.0\.0\.256" is not an IP/s)
    })

    it('needs a name or an inventory', async () => {
      assert.equal((await machine('create')).exit, 2)
    })
  })

  describe('create --filename', () => {
    it('creates all machines, with a result for each, and completes a second time', async () => {
      const path = await inventory('name,dns,addresses\nw1,,10.0.0.1\nw2,w2.example.com w2,\n')
      const first = await machine('create', '-f', path, '--output', 'json')
      const results = (text: string) =>
        (JSON.parse(text) as {machines: {name: string; result: string}[]}).machines.map(
          ({name, result}) => `${name} ${result}`,
        )
      assert.deepEqual(results(first.stdout), ['w1 created', 'w2 created'])
      await admin.machines.delete({namespace: NAMESPACE, name: 'w1'})
      const second = await machine('create', '-f', path, '--output', 'json')
      assert.deepEqual(results(second.stdout), ['w1 created', 'w2 unchanged'])
      const names = await machine('create', '-f', path, '--output', 'name')
      assert.equal(names.stdout, 'kube-system/w1\nkube-system/w2\n')
    })

    it('names every problem with its line, and creates nothing', async () => {
      await machine('create', 'old', '--dns', 'taken')
      const path = await inventory(
        'name,namespace,dns,addresses\nw1,,w1,\nw1,,other,\nw3,,w1,10.0.0.300\nw4,nowhere,,\nw5,,taken,\n',
      )
      const {stdout, stderr, exit} = await machine('create', '-f', path)
      assert.equal(exit, 2)
      assert.equal(stdout, '')
      const text = stderr.replaceAll(/\s+/g, ' ')
      for (const problem of [
        'line 3: "kube-system/w1" appears twice',
        'line 4: "10.0.0.300" is not an IP address',
        'line 4: the DNS name "w1" is also that of "kube-system/w1"',
        'line 5: there is no namespace "nowhere"',
        'line 6: the DNS name "taken" is also that of Machine "kube-system/old"',
      ]) {
        assert.ok(text.includes(problem), `${problem}\n${text}`)
      }
      assert.deepEqual(
        (await listed()).map(({name}) => name),
        ['old'],
      )
    })

    it('shows with --dry-run what it would do', async () => {
      const path = await inventory('- name: w1\n- name: w2\n', 'inventory.yaml')
      const {stdout} = await machine('create', '-f', path, '--dry-run')
      assert.equal(
        stdout,
        'would create machine "kube-system/w1"\nwould create machine "kube-system/w2"\n',
      )
      assert.deepEqual(await listed(), [])
    })

    it('reports each machine that the server refuses, and creates the others', async () => {
      await admin.namespaces.create({metadata: {name: 'closing', finalizers: ['example.com/wait']}})
      await admin.namespaces.delete('closing')
      const path = await inventory('name,namespace\nw1,closing\nw2,\n')
      const {stdout, exit} = await machine('create', '-f', path)
      assert.equal(exit, 1)
      assert.match(stdout, /^machine "closing\/w1" failed: .*\nmachine "kube-system\/w2" created/)
    })
  })

  describe('list', () => {
    it('says which machines have joined, are expected, or no longer', async () => {
      for (const name of ['joined', 'expected']) await machine('create', name)
      await admin.machines.create({metadata: {namespace: NAMESPACE, name: 'incomplete'}})
      await admin.machines.patch(
        {namespace: NAMESPACE, name: 'joined'},
        {status: {nodeRef: {kind: 'Node', name: 'joined'}}},
        {type: 'merge', subresource: 'status'},
      )
      const states = Object.fromEntries((await listed()).map(({name, state}) => [name, state]))
      assert.deepEqual(states, {
        joined: 'joined',
        expected: 'expected',
        incomplete: 'incomplete',
      })
      const {stdout} = await machine('list', '--output', 'wide')
      assert.match(stdout, /^NAME +STATE +NODE +EXPECTED UNTIL +DNS +AGE +NAMESPACE +ADDRESSES/)
      assert.match(stdout, /\njoined +joined +joined +/)
    })

    it('says how to add one if there is none', async () => {
      const {stderr} = await machine('list')
      assert.match(stderr, /no machines found; add one with "trustadm machine create --kubeconfig /)
    })
  })

  describe('delete', () => {
    it('deletes what exists, and ends with an error for what does not', async () => {
      await machine('create', 'w1')
      const planned = await machine('delete', 'w1', '--dry-run')
      assert.equal(planned.stdout, 'would delete machine "kube-system/w1"\n')
      const {stdout, exit} = await machine('delete', 'kube-system/w1', 'w2')
      assert.equal(exit, 1)
      const [deleted, failed = ''] = stdout.split('\n')
      assert.equal(deleted, 'machine "kube-system/w1" deleted')
      assert.match(
        failed,
        /^machine "kube-system\/w2" failed: there is no such Machine; see "trustadm machine list --kubeconfig [^ ]+"$/,
      )
      assert.deepEqual(await listed(), [])
    })

    it('leaves a Machine that a controller manages, unless it is forced', async () => {
      await admin.machines.create({
        metadata: {namespace: NAMESPACE, name: 'vm'},
        spec: {providerSpec: {value: {}}},
      })
      const {stdout, exit} = await machine('delete', 'vm')
      assert.equal(exit, 1)
      assert.match(stdout, /may destroy the machine: use --force/)
      assert.equal((await machine('delete', 'vm', '--force')).exit, 0)
    })
  })

  describe('renew', () => {
    it('expects a machine again, and says what else keeps its name', async () => {
      await machine('create', 'w1')
      const key = {namespace: NAMESPACE, name: 'w1'}
      await admin.machines.patch(
        key,
        {status: {nodeRef: {kind: 'Node', name: 'w1'}}},
        {type: 'merge', subresource: 'status'},
      )
      const asker = {pin: 'sha256:1', requester: 'somebody'}
      await admin.configMaps.create(expectedRecord('w1', asker, 3_600_000, new Date()))
      const {stdout, stderr, exit} = await machine('renew', 'w1')
      assert.match(stdout, /^machine "kube-system\/w1" renewed, expected until/)
      assert.match(
        stderr.replaceAll(/\s+/g, ' '),
        /run "trustadm certificate allow-rejoin w1 --kubeconfig /,
      )
      assert.equal(exit, 0)
      const renewed = await admin.machines.get(key)
      assert.ok(renewed.metadata.annotations?.['trustadm.io/expected-from'])
      assert.equal(renewed.status?.nodeRef, undefined)
      assert.equal(renewed.status?.addresses?.length, 1)
    })

    it('expects all machines of an inventory again, and "delete" removes them', async () => {
      const file = await inventory('name,dns\nw1,w1.example.com\nw2,\n')
      assert.equal((await machine('create', '--filename', file)).exit, 0)
      const renewed = await machine('renew', '--filename', file)
      assert.equal(renewed.exit, 0, renewed.stderr)
      assert.match(
        renewed.stdout,
        /^machine "kube-system\/w1" renewed.*\nmachine "kube-system\/w2" renewed/,
      )
      const removed = await machine('delete', '-f', file)
      assert.equal(
        removed.stdout,
        'machine "kube-system/w1" deleted\nmachine "kube-system/w2" deleted\n',
      )
      assert.deepEqual(await listed(), [])
    })

    for (const command of ['renew', 'delete']) {
      it(`needs names or an inventory that can be read, not both: ${command}`, async () => {
        await machine('create', 'w1')
        const none = await machine(command)
        assert.equal(none.exit, 2)
        assert.match(none.stderr, /no machine was named/)
        const file = await inventory('name\nw1\n,\n')
        const both = await machine(command, 'w1', '-f', file)
        assert.equal(both.exit, 2)
        assert.match(both.stderr, /cannot be used together/)
        const broken = await machine(command, '-f', await inventory('name,colour\nw1,red\n'))
        assert.equal(broken.exit, 2)
        assert.match(broken.stderr, /line 1: unknown field "colour"/)
        assert.equal((await listed()).length, 1)
      })
    }

    it('leaves a machine whose Node exists', async () => {
      await machine('create', 'w9')
      await admin.nodes.create({metadata: {name: 'w9'}})
      const {stdout, exit} = await machine('renew', 'w9', 'w8')
      assert.equal(exit, 1)
      assert.match(stdout, /"kube-system\/w9" failed: Node "w9" exists: delete it first/)
      assert.match(
        stdout,
        /"kube-system\/w8" failed: there is no such Machine; see "trustadm machine list --kubeconfig /,
      )
    })
  })
})
