import assert from 'node:assert/strict'
import {readFile, readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import type {JoinResult} from '../../src/node/describe-node.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import {describeWithKubectl} from '../helpers/clients.ts'
import {
  DISCOVERY_METHODS,
  joinBy,
  joinFixture,
  joinedBy,
  parseResult,
  type JoinFixture,
} from '../helpers/joining.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {trustadm, trustadmWith, type Ended} from '../helpers/program.ts'
import {until} from '../server/support.ts'

const nameOf = (ended: Ended): string => (parseResult(ended) as JoinResult).nodeName

describe('join, with the built program', function () {
  this.timeout(60_000)
  let fixture: JoinFixture
  before(async () => {
    fixture = await joinFixture()
  })
  after(() => fixture.remove())

  const asAdmin = async <T>(work: (client: Awaited<ReturnType<typeof connect>>) => Promise<T>) => {
    const client = await connect(fixture.made.kubeconfig)
    try {
      return await work(client)
    } finally {
      await client.close()
    }
  }

  it('is the line that init prints', () => {
    assert.match(fixture.made.joinCommand, /^trustadm join 127\.0\.0\.1:\d+ --token /)
  })

  for (const method of DISCOVERY_METHODS) {
    it(`finds the cluster by ${method}, and leaves a node that the server knows`, async () => {
      const name = `by-${method}`
      const result = await joinedBy(fixture, method, name)
      assert.equal(result.nodeName, name)
      const client = await connect(result.kubeconfig ?? '')
      assert.equal(await whoAmI(client), `system:node:${name}`)
      assert.equal((await client.nodes.get(name)).metadata.name, name)
      await client.close()
    })
  }

  it('takes the token from the standard input', async () => {
    const pins = fixture.line.slice(3)
    const place = ['--dir', fixture.nodeDir('by-input'), '--node-name', 'by-input']
    const ended = await trustadmWith(
      {input: `${fixture.made.token}\n`},
      ...['join', fixture.line[0] ?? '', '--token', '-', ...pins, ...place, '--output', 'json'],
    )
    assert.equal(nameOf(ended), 'by-input')
    assert.doesNotMatch(ended.stderr, /can be seen by every user/)
  })

  it('asks a bare address at port 6443, and says so', async () => {
    const rest = [...fixture.line.slice(1), '--dir', fixture.nodeDir('bare'), '--timeout', '0s']
    const {stderr} = await trustadm('join', '127.0.0.1', ...rest)
    assert.match(stderr, /127\.0\.0\.1 has no port: using 127\.0\.0\.1:6443/)
  })

  it('goes on with the same certificate when it is run again', async () => {
    const first = await joinedBy(fixture, 'token', 'again')
    const second = await joinBy(fixture, 'token', 'again', '--output', 'json')
    assert.deepEqual(parseResult(second), first)
    assert.match(second.stderr, /the certificate is kept/)
  })

  it('gives a name to nobody else, until an operator allows it', async () => {
    await joinedBy(fixture, 'token', 'taken')
    const elsewhere = ['--dir', fixture.nodeDir('taken-again'), '--node-name', 'taken']
    const line = ['join', ...fixture.line, ...elsewhere]
    const refused = await trustadm(...line, '--timeout', '3s')
    assert.equal(refused.code, 5)
    assert.match(refused.stderr, /there is already a Node "taken"/)
    assert.match(refused.stderr, /trustadm certificate approve node-csr-/)

    const [, pin = ''] = /allow-rejoin taken --pin (sha256:[0-9a-f]{64})/.exec(refused.stderr) ?? []
    const waiting = trustadm(...line, '--output', 'json')
    const words = ['certificate', 'allow-rejoin', 'taken', '--pin', pin, '--dir', fixture.dir]
    const allowed = await trustadm(...words)
    assert.equal(allowed.code, 0, allowed.stderr)
    assert.equal(nameOf(await waiting), 'taken')
  })

  it('is let in by a person, too', async () => {
    await joinedBy(fixture, 'token', 'asked')
    const elsewhere = ['--dir', fixture.nodeDir('asked-again'), '--node-name', 'asked']
    const waiting = trustadm('join', ...fixture.line, ...elsewhere, '--output', 'json')
    const name = await asAdmin(async ({csrs}) => {
      for await (const {object} of csrs.watch()) {
        if (!object.status?.conditions) return object.metadata.name ?? ''
      }
      return ''
    })
    const approved = await trustadm('certificate', 'approve', name, '--dir', fixture.dir)
    assert.equal(approved.code, 0, approved.stderr)
    assert.equal(nameOf(await waiting), 'asked')
  })

  it('tells a denial', async () => {
    await joinedBy(fixture, 'token', 'denied')
    const elsewhere = ['--dir', fixture.nodeDir('denied-again'), '--node-name', 'denied']
    const waiting = trustadm('join', ...fixture.line, ...elsewhere)
    const name = await asAdmin(async ({csrs}) => {
      for await (const {object} of csrs.watch()) {
        if (!object.status?.conditions) return object.metadata.name ?? ''
      }
      return ''
    })
    const words = ['certificate', 'deny', name, '--message', 'not today', '--dir', fixture.dir]
    assert.equal((await trustadm(...words)).code, 0)
    const {code, stderr} = await waiting
    assert.equal(code, 4)
    assert.match(stderr, /was denied.*not today/)
  })

  it('leaves the folder as it was where the cluster cannot be trusted', async () => {
    const words = [...fixture.line.slice(0, -1), `sha256:${'0'.repeat(64)}`]
    const dir = fixture.nodeDir('hostile')
    const {code} = await trustadm('join', ...words, '--dir', dir, '--node-name', 'hostile')
    assert.equal(code, 3)
    await assert.rejects(stat(dir), {code: 'ENOENT'})
  })

  it('refuses the folder of the control plane', async () => {
    const before = await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8')
    const {code, stderr} = await trustadm('join', ...fixture.line, '--dir', fixture.dir)
    assert.equal(code, 6)
    assert.match(stderr, /is the folder of a control plane/)
    assert.equal(await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8'), before)
  })

  it('writes nothing in a dry run', async () => {
    const {code, stdout} = await joinBy(fixture, 'token', 'dry', '--dry-run')
    assert.equal(code, 0)
    assert.match(stdout, /would register the Node "dry"/)
    await assert.rejects(stat(fixture.nodeDir('dry')), {code: 'ENOENT'})
  })

  it('leaves to a kubelet what a kubelet does', async () => {
    const result = await joinedBy(fixture, 'token', 'kubelet', '--for-kubelet')
    assert.equal(result.certificate, null)
    assert.deepEqual((await readdir(fixture.nodeDir('kubelet'))).sort(), [
      'bootstrap-kubelet.conf',
      'cluster-info.yaml',
      'lock',
      'node-manifest.json',
      'pki',
    ])
    const client = await connect(result.kubeconfig ?? '')
    assert.match((await whoAmI(client)) ?? '', /^system:bootstrap:/)
    await client.close()
  })

  it("deletes a kubelet's bootstrap file once its own certificate works, without a second run", async () => {
    const {dir} = await joinedBy(fixture, 'token', 'self', '--for-kubelet')
    const file = join(dir, 'bootstrap-kubelet.conf')
    assert.ok((await stat(file)).isFile())
    // What a kubelet does: it gets a certificate, and keeps it in its folder of certificates.
    const got = await trustadm(
      ...['join', 'phase', 'tls-bootstrap', '--token-file', fixture.tokenFile],
      ...['--dir', dir, '--node-name', 'self'],
    )
    assert.equal(got.code, 0, got.stderr)
    await until(() =>
      stat(file).then(
        () => false,
        () => true,
      ),
    )
  })

  it('continues with a single phase as the node of the folder, whatever the host name is', async () => {
    const {dir} = await joinedBy(fixture, 'token', 'named')
    for (const phase of ['register-node', 'cleanup']) {
      const ended = await trustadm('join', 'phase', phase, '--dir', dir)
      assert.equal(ended.code, 0, ended.stderr)
    }
    const other = await trustadm('join', 'phase', 'cleanup', '--dir', dir, '--node-name', 'other')
    assert.equal(other.code, 6, other.stderr)
  })

  it('keeps a copy of cluster-info that other machines can join by', async () => {
    const {clusterInfo} = await joinedBy(fixture, 'token', 'first')
    const next = {...fixture, documentFile: clusterInfo?.file ?? ''}
    assert.equal((await joinedBy(next, 'file', 'second')).nodeName, 'second')
  })

  it('shows no secret, at any verbosity, in any outcome', async () => {
    const [, secret = ''] = fixture.made.token.split('.')
    const lines = [
      ['join', ...fixture.line],
      ['join', ...fixture.line, '--dry-run'],
      ['join', ...fixture.line, '--for-kubelet'],
      ['join', ...fixture.line, '--token-file', fixture.tokenFile],
      ['join', fixture.line[0] ?? '', '--token', `${fixture.made.token}x`],
      ['join', fixture.made.token],
      ['join', '--discovery-file', fixture.made.token, '--token', fixture.made.token],
      ['join', 'phase', 'tls-bootstrap', '--token', fixture.made.token],
      ['join', 'phase', fixture.made.token],
    ]
    const place = ['--dir', fixture.nodeDir('secret'), '--node-name', 'secret', '--verbose']
    for (const line of lines) {
      const {stdout, stderr} = await trustadmWith({env: {DEBUG: '*'}}, ...line, ...place)
      assert.doesNotMatch(stdout + stderr, new RegExp(secret), line.slice(0, 2).join(' '))
    }
  })

  for (const version of ['1.20', '1.36']) {
    describeWithKubectl(version, 'the kubeconfig of a node', (binary) => {
      it('works', async () => {
        const name = `kubectl-${version}`
        const {kubeconfig, dir: home} = await joinedBy(fixture, 'token', name)
        const kubectl = new Kubectl({binary, kubeconfig: kubeconfig ?? '', home})
        assert.equal(await kubectl.ok(`get node ${name} -o name`), `node/${name}\n`)
      })
    })
  }
})
