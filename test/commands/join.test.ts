import assert from 'node:assert/strict'
import {readFile, readdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {stringify} from 'yaml'
import {run} from '../cli/program.ts'
import {startJoinableCluster, TOKEN, TOKEN_TEXT, useFolder} from '../node/support.ts'
import type {JoinableCluster} from '../node/support.ts'

interface Result {
  nodeName: string
  certificate: string | null
  kubeconfig: string | null
  notAfter: string | null
  clusterInfo: {file: string; server: string; caCertHashes: string[]} | null
}

describe('join, the command', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const dir = () => join(folder(), 'node')
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  before(async () => {
    cluster = await startJoinableCluster()
    issuing = cluster.issueAll()
  })
  after(async () => {
    await issuing.stop()
    await cluster.stop()
  })
  let count = 0
  let name = ''
  beforeEach(() => {
    count += 1
    name = `node-${count}`
  })

  /** A line as kubeadm prints it. */
  const line = (...more: string[]) => [
    cluster.endpoint,
    '--token',
    TOKEN_TEXT,
    '--discovery-token-ca-cert-hash',
    cluster.pin,
    '--dir',
    dir(),
    '--node-name',
    name,
    ...more,
  ]
  const file = async (file: string, content: string) => {
    const path = join(folder(), file)
    await writeFile(path, content, {mode: 0o600})
    return path
  }
  const tokenFile = () => file('token', TOKEN_TEXT)
  const document = () =>
    file(
      'cluster.yaml',
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [
          {
            name: '',
            cluster: {
              server: cluster.url,
              'certificate-authority-data': Buffer.from(cluster.ca).toString('base64'),
            },
          },
        ],
      }),
    )
  const resultOf = ({stdout, stderr, exit}: Awaited<ReturnType<typeof run>>): Result => {
    assert.equal(exit, 0, stderr)
    return JSON.parse(stdout) as Result
  }

  it('prints where everything is as JSON', async () => {
    const result = resultOf(await run('join', ...line('--output', 'json')))
    assert.equal(result.nodeName, name)
    assert.equal(result.certificate, join(dir(), 'pki', 'kubelet-client-current.pem'))
    assert.equal(result.kubeconfig, join(dir(), 'kubelet.conf'))
    assert.ok(!Number.isNaN(Date.parse(result.notAfter ?? '')))
    assert.equal(result.clusterInfo?.server, cluster.url)
    assert.equal(result.clusterInfo.file, join(dir(), 'cluster-info.yaml'))
    assert.deepEqual(result.clusterInfo.caCertHashes, [cluster.pin])
  })

  it('says what was done and what comes next, and nothing of the token', async () => {
    const {stdout, stderr, exit} = await run('join', ...line('--verbose'))
    assert.equal(exit, 0, stderr)
    assert.match(stdout, new RegExp(`is the node "${name}" of the cluster at ${cluster.url}`))
    assert.match(stdout, new RegExp(`kubectl --kubeconfig \\S+kubelet.conf get node ${name}`))
    assert.match(stderr, /\[tls-bootstrap\] the certificate was issued/)
    assert.doesNotMatch(stdout + stderr, new RegExp(TOKEN.secret))
  })

  it('prints its name as kubectl does', async () => {
    const {stdout} = await run('join', ...line('--output', 'name', '--quiet'))
    assert.equal(stdout, `node/${name}\n`)
  })

  it("takes kubeadm's line as it is", async () => {
    const more = ['--ignore-preflight-errors=all,Swap', '--cri-socket', 'unix:///run/x.sock']
    const foreign = ['--skip-phases=kubelet-start', '--v=5']
    const {stderr, exit} = await run('join', ...line(...more, ...foreign))
    assert.equal(exit, 0, stderr)
    assert.match(stderr, /--cri-socket has no effect here/)
    assert.match(stderr, /there is no phase "kubelet-start"/)
  })

  it('hides the token in a file or in the environment', async () => {
    const place = ['--dir', dir(), '--node-name', name, '--output', 'json']
    const pinned = [cluster.endpoint, '--discovery-token-ca-cert-hash', cluster.pin]
    const byFile = await run('join', ...pinned, '--token-file', await tokenFile(), ...place)
    assert.equal(resultOf(byFile).nodeName, name)
    assert.doesNotMatch(byFile.stderr, /can be seen by every user/)
    process.env.TRUSTADM_TOKEN = TOKEN_TEXT
    try {
      assert.equal(resultOf(await run('join', ...pinned, ...place)).nodeName, name)
    } finally {
      delete process.env.TRUSTADM_TOKEN
    }
  })

  it('joins by a file, with a token that is only to be let in by', async () => {
    const place = ['--dir', dir(), '--node-name', name, '--output', 'json']
    const found = ['--discovery-file', await document(), '--token-file', await tokenFile()]
    assert.equal(resultOf(await run('join', ...found, ...place)).nodeName, name)
  })

  it('refuses a file and a token together, with the flag that was meant', async () => {
    const found = ['--discovery-file', await document(), '--token', TOKEN_TEXT]
    const {stderr, exit} = await run('join', ...found, '--dir', dir(), '--node-name', name)
    assert.equal(exit, 2)
    assert.match(stderr, /a discovery file and a discovery token/)
    assert.match(stderr, /--tls-bootstrap-token/)
    assert.deepEqual(await readdir(folder()), ['cluster.yaml'])
  })

  it("joins by kubeadm's configuration, and flags win over it", async () => {
    const config = await file(
      'join.yaml',
      stringify({
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        kind: 'JoinConfiguration',
        nodeRegistration: {name: 'another'},
        discovery: {
          bootstrapToken: {
            token: TOKEN_TEXT,
            apiServerEndpoint: cluster.endpoint,
            caCertHashes: [cluster.pin],
          },
        },
      }),
    )
    const place = ['--dir', dir(), '--node-name', name, '--output', 'json']
    assert.equal(resultOf(await run('join', '--config', config, ...place)).nodeName, name)
  })

  it('writes nothing in a dry run', async () => {
    const {stdout, exit} = await run('join', ...line('--dry-run'))
    assert.equal(exit, 0)
    assert.match(
      stdout,
      new RegExp(`^\\[tls-bootstrap\\] would request the certificate of "${name}"`, 'm'),
    )
    assert.deepEqual(await readdir(folder()), [])
  })

  it('runs one phase alone', async () => {
    const phases = [
      'preflight',
      'discovery',
      'tls-bootstrap',
      'kubeconfig',
      'register-node',
      'cleanup',
    ]
    for (const phase of phases) {
      const {stderr, exit} = await run('join', 'phase', phase, ...line())
      assert.equal(exit, 0, stderr)
    }
    assert.equal((await cluster.admin.nodes.get(name)).metadata.name, name)
  })

  it('leaves bootstrap-kubelet.conf for a kubelet', async () => {
    const result = resultOf(await run('join', ...line('--for-kubelet', '--output', 'json')))
    assert.equal(result.kubeconfig, join(dir(), 'bootstrap-kubelet.conf'))
    assert.equal(result.certificate, null)
    assert.match(await readFile(result.kubeconfig, 'utf8'), /tls-bootstrap-token-user/)
  })

  const refusals: [string, () => string[], RegExp][] = [
    [
      'a control plane without its key',
      () => line('--control-plane'),
      /--control-plane needs --certificate-key/,
    ],
    ['a certificate key alone', () => line('--certificate-key', 'x'), /--control-plane/],
    [
      'a name that no node can have',
      () => ['a:1', '--node-name', 'A_B'],
      /--node-name is not a valid name/,
    ],
    [
      'a phase that nobody knows',
      () => line('--skip-phases', 'nonsense'),
      /there is no phase "nonsense"/,
    ],
    [
      'a time span that is none',
      () => line('--timeout', 'soon'),
      /--timeout is not a valid duration/,
    ],
    ['no way to the cluster', () => ['--dir', dir(), '--node-name', 'a'], /no cluster was named/],
    ['a CA for no URL', () => ['--discovery-file-ca', 'x'], /discovery-file/],
    [
      'an endpoint that is none',
      () => ['nowhere:at-all', '--token', TOKEN_TEXT, '--dir', dir()],
      /endpoint 1 is not the address/,
    ],
    [
      'a server that nothing but the token vouches for',
      () => [cluster.endpoint, '--token', TOKEN_TEXT, '--dir', dir(), '--node-name', name],
      /without a CA certificate hash is unsafe[^]*--discovery-token-unsafe-skip-ca-verification/,
    ],
    [
      'half a token',
      () => ['a:1', '--token', TOKEN.secret, '--dir', dir()],
      /a token is 6 characters/,
    ],
  ]
  for (const settings of [{}, {unsafeSkipCAVerification: false}]) {
    it(`refuses a configuration file without a pin: ${JSON.stringify(settings)}`, async () => {
      const config = await file(
        'join.yaml',
        stringify({
          apiVersion: 'trustadm.io/v1alpha1',
          kind: 'JoinConfiguration',
          endpoints: [cluster.endpoint],
          token: TOKEN_TEXT,
          nodeName: name,
          dir: dir(),
          ...settings,
        }),
      )
      const {stderr, exit} = await run('join', '--config', config)
      assert.equal(exit, 2)
      assert.match(stderr, /without a CA certificate hash is unsafe/)
      assert.deepEqual(await readdir(folder()), ['join.yaml'])
    })
  }

  it('takes a server without a pin where it is told to, and warns', async () => {
    const skip = '--discovery-token-unsafe-skip-ca-verification'
    const where = [cluster.endpoint, '--token', TOKEN_TEXT, '--dir', dir(), '--node-name', name]
    const {stderr, exit} = await run('join', ...where, skip)
    assert.equal(exit, 0, stderr)
    assert.match(stderr, /was not pinned, so anyone who knows the token/)
  })

  for (const [what, words, message] of refusals) {
    it(`refuses ${what}, and shows no token`, async () => {
      const {stdout, stderr, exit} = await run('join', ...words())
      assert.equal(exit, 2)
      assert.equal(stdout, '')
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, new RegExp(TOKEN.secret))
      assert.deepEqual(await readdir(folder()), [])
    })
  }
})
