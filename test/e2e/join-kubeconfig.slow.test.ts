import assert from 'node:assert/strict'
import {mkdir, readFile, readdir, readlink, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import type {RequestList} from '../../src/control-plane/requests/list.ts'
import {bootstrapperUser} from '../../src/csr/bootstrapper.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import type {JoinResult} from '../../src/node/describe-node.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createIssuer, issueLeaf} from '../../src/pki/issuer.ts'
import {parsePrivateKey, publicHalf} from '../../src/pki/keys.ts'
import {NO_NAMES} from '../../src/pki/subject-names.ts'
import {joinFixture, joinedBy, parseResult, type JoinFixture} from '../helpers/joining.ts'
import {trustadm, trustadmWith} from '../helpers/program.ts'
import {until} from '../server/support.ts'

const USER = bootstrapperUser('kube-system')
const HOUR = 3_600_000

describe('join with other credentials, with the built program', function () {
  this.timeout(60_000)
  let fixture: JoinFixture
  let admin: ApiClient
  let file = ''
  before(async () => {
    fixture = await joinFixture()
    admin = await connect(fixture.made.kubeconfig)
    await admin.clusterRoleBindings.create({
      metadata: {name: 'test:node-bootstrapper'},
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:node-bootstrapper',
      },
      subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER}],
    })
    file = join(fixture.folder, 'bootstrap.conf')
    const made = await trustadm('kubeconfig', 'user', '--client-name', USER, '--dir', fixture.dir)
    assert.equal(made.code, 0, made.stderr)
    await writeFile(file, made.stdout, {mode: 0o600})
  })
  after(async () => {
    await admin.close()
    await fixture.remove()
  })

  const userIn = async (kubeconfig: string | null) => {
    const client = await connect(kubeconfig ?? '')
    try {
      return await whoAmI(client)
    } finally {
      await client.close()
    }
  }
  const joinWith = (name: string, ...more: string[]) =>
    trustadmWith(
      {env: {TRUSTADM_TOKEN: fixture.made.token}},
      ...['join', '--bootstrap-kubeconfig', file, '--dir', fixture.nodeDir(name)],
      ...['--node-name', name, '--output', 'json', ...more],
    )

  it('joins with a client certificate, into the certificate folder of a kubelet', async () => {
    const certDir = fixture.nodeDir('kubelet-pki')
    const waiting = joinWith('by-kubeconfig', '--cert-dir', certDir)
    let name = ''
    await until(async () => {
      const {items} = await admin.csrs.list()
      name = items.find(({spec}) => spec.username === USER)?.metadata.name ?? ''
      return name !== ''
    })
    assert.equal((await trustadm('certificate', 'approve', name, '--dir', fixture.dir)).code, 0)
    const result = parseResult(await waiting) as JoinResult
    assert.equal(result.certificate, join(certDir, 'kubelet-client-current.pem'))
    assert.equal(await userIn(result.kubeconfig), 'system:node:by-kubeconfig')
    const again = parseResult(await joinWith('by-kubeconfig')) as JoinResult
    assert.deepEqual(again, result)
  })

  it('prints pairing words while it waits, and the operator sees the same', async () => {
    const {code, stderr} = await joinWith('words', '--timeout', '3s')
    assert.equal(code, 5, stderr)
    const [, words = ''] = /same pairing words: ([a-z ]+)$/m.exec(stderr) ?? []
    assert.equal(words.split(' ').length, 4)
    const pending = ['--state', 'pending', '--dir', fixture.dir]
    const {requests} = parseResult(
      await trustadm('certificate', 'list', ...pending, '--output', 'json'),
    ) as RequestList
    const [request] = requests
    assert.equal(request?.pairingWords, words)
    const {stdout} = await trustadm('certificate', 'list', ...pending)
    assert.match(stdout, new RegExp(` PAIRING WORDS\\n.* ${words}\\n`))
    const shown = await trustadm('certificate', 'show', request.name, '--dir', fixture.dir)
    assert.match(shown.stdout, new RegExp(`^pairing words +${words}$`, 'm'))
  })

  it('prints or installs a unit for node run, and says what to run next', async () => {
    const units = fixture.nodeDir('units')
    await mkdir(units)
    const place = ['--node-run', 'install', '--unit-dir', units]
    const {nodeRun} = await joinedBy(fixture, 'token', 'with-unit', ...place)
    assert.ok(nodeRun?.isInstalled)
    assert.equal(await readFile(join(units, 'trustadm-node.service'), 'utf8'), nodeRun.content)
    const dir = fixture.nodeDir('with-unit')
    const [, command = ''] = /^ExecStart=(.+)$/m.exec(nodeRun.content) ?? []
    assert.ok(command.endsWith(` node run --dir ${dir} --cert-dir ${join(dir, 'pki')}`), command)
    // What systemd would start works as it is.
    const [, ...words] = command.split(' ')
    const once = await trustadm(...words.slice(words.indexOf('node')), '--once')
    assert.equal(once.code, 0, once.stderr)
    const printed = await joinedBy(fixture, 'token', 'with-unit', '--node-run', 'print')
    assert.equal(printed.nodeRun?.content, nodeRun.content)
    assert.equal(printed.nodeRun.isInstalled, false)
    // The node takes it along when it leaves.
    const planned = await trustadm('node', 'leave', '--dry-run', '--dir', dir)
    assert.ok(planned.stdout.includes(`would remove the systemd unit ${nodeRun.path}\n`))
    const left = await trustadm('node', 'leave', '--yes', '--dir', dir)
    assert.match(left.stdout, /^removed the systemd unit .*\n {2}systemctl daemon-reload$/m)
    assert.deepEqual(await readdir(units), [])
  })

  it('refuses what does not go together, as wrong usage', async () => {
    for (const more of [
      ['--token-file', fixture.tokenFile],
      ['--discovery-file', 'f'],
    ]) {
      const {code, stderr} = await joinWith('refused', ...more)
      assert.equal(code, 2)
      assert.match(stderr, /cannot be used together/)
    }
  })

  it('lets a machine in again whose certificate has expired, without an operator', async () => {
    const {certificate: link, kubeconfig} = await joinedBy(fixture, 'token', 'expired')
    const current = join(dirname(link ?? ''), await readlink(link ?? ''))
    const key = parsePrivateKey(await readFile(current, 'utf8'))
    const pki = join(fixture.dir, 'pki')
    const issuer = createIssuer(
      parseCertificate(await readFile(join(pki, 'ca.crt'), 'utf8')),
      parsePrivateKey(await readFile(join(pki, 'ca.key'), 'utf8')),
    )
    const old = await issueLeaf(issuer, {
      subject: {commonName: 'system:node:expired', organizations: ['system:nodes']},
      names: NO_NAMES,
      publicKey: publicHalf(key),
      usages: ['digital signature', 'client auth'],
      validity: {
        notBefore: new Date(Date.now() - 2 * HOUR),
        notAfter: new Date(Date.now() - HOUR),
      },
    })
    await writeFile(current, old + key.export({format: 'pem', type: 'pkcs8'}).toString())
    await assert.rejects(userIn(kubeconfig).then((user) => assert.ok(user)))
    await joinedBy(fixture, 'token', 'expired')
    assert.equal(await userIn(kubeconfig), 'system:node:expired')
  })
})
