import assert from 'node:assert/strict'
import {chmod, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {formatKubeconfig, type Kubeconfig} from '../../src/client/kubeconfig.ts'
import {describeWithKubectl} from '../helpers/clients.ts'
import {sharedCluster, type Cluster} from '../helpers/cluster.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {trustadm, trustadmWith} from '../helpers/program.ts'

const V1 = 'client.authentication.k8s.io/v1'
const V1BETA1 = 'client.authentication.k8s.io/v1beta1'

describe('kubeconfigs with a program for the credentials, with the built program', function () {
  this.timeout(60_000)
  let cluster: Cluster
  let admin: Kubeconfig
  let folder = ''

  before(async () => {
    cluster = await sharedCluster()
    admin = await readKubeconfig(cluster.kubeconfig)
    folder = await mkdtemp(join(tmpdir(), 'trustadm-exec-'))
    const user = admin.users[0]?.user ?? {}
    const decode = (data = '') => Buffer.from(data, 'base64').toString()
    const credential = {
      kind: 'ExecCredential',
      apiVersion: V1,
      status: {
        clientCertificateData: decode(user['client-certificate-data']),
        clientKeyData: decode(user['client-key-data']),
      },
    }
    await writeFile(join(folder, 'credential'), JSON.stringify(credential))
    const script = `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" > "$NOTES"
echo "plugin $1 $2" >&2
cat "$(dirname "$0")/credential"
`
    // Of an old provider: it knows no other version.
    const older = `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" > "$NOTES"
case "$KUBERNETES_EXEC_INFO" in *'"apiVersion":"${V1BETA1}"'*) ;; *) exit 3 ;; esac
sed 's,${V1},${V1BETA1},' "$(dirname "$0")/credential"
`
    for (const [name, text] of Object.entries({plugin: script, older})) {
      await writeFile(join(folder, name), text)
      await chmod(join(folder, name), 0o755)
    }
  })
  after(() => rm(folder, {recursive: true, force: true}))

  /** A kubeconfig as a cloud provider makes it, beside the plugin. */
  async function kubeconfig(name: string, exec: object = {}): Promise<string> {
    const path = join(folder, `${name}.conf`)
    const [named] = admin.clusters
    const config: Kubeconfig = {
      ...admin,
      clusters: [
        {
          name: 'cloud',
          cluster: {
            ...named?.cluster,
            extensions: [{name: 'client.authentication.k8s.io/exec', extension: {audience: 'api'}}],
          },
        },
      ],
      users: [
        {
          name: 'cloud',
          user: {
            exec: {
              apiVersion: V1,
              command: './plugin',
              args: ['get-token', 'very-secret'],
              env: [{name: 'NOTES', value: join(folder, `${name}.json`)}],
              interactiveMode: 'IfAvailable',
              provideClusterInfo: true,
              ...exec,
            },
          },
        },
      ],
      contexts: [{name: 'cloud', context: {cluster: 'cloud', user: 'cloud'}}],
      'current-context': 'cloud',
    }
    await writeFile(path, formatKubeconfig(config))
    return path
  }

  it('runs it, and shows what it says on its standard error', async () => {
    const ended = await trustadm('token', 'list', '--kubeconfig', await kubeconfig('plain'))
    assert.equal(ended.code, 0, ended.stderr)
    assert.match(ended.stdout, new RegExp(cluster.token.slice(0, 6)))
    assert.match(ended.stderr, /^plugin get-token/)
  })

  const BETA = {apiVersion: V1BETA1, command: './older', interactiveMode: undefined}

  it('runs one of v1beta1, which has no interactiveMode', async () => {
    const file = await kubeconfig('beta', BETA)
    const ended = await trustadm('token', 'list', '--kubeconfig', file)
    assert.equal(ended.code, 0, ended.stderr)
    assert.match(ended.stdout, new RegExp(cluster.token.slice(0, 6)))
    const told = JSON.parse(await readFile(join(folder, 'beta.json'), 'utf8')) as {
      apiVersion: string
      spec: {interactive: boolean; cluster: {config: object}}
    }
    assert.deepEqual(
      [told.apiVersion, told.spec.interactive, told.spec.cluster.config],
      [V1BETA1, false, {audience: 'api'}],
    )
  })

  it('refuses an answer of another version than the kubeconfig names', async () => {
    const file = await kubeconfig('mixed', {...BETA, command: './plugin'})
    const {code, stderr} = await trustadm('token', 'list', '--kubeconfig', file)
    assert.equal(code, 4, stderr)
    assert.match(stderr, /v1beta1/)
  })

  it('says what is not installed, with the hint of the kubeconfig and its own code', async () => {
    const exec = {command: 'no-such-plugin', installHint: 'install it from example.com'}
    const file = await kubeconfig('missing', exec)
    const {code, stderr} = await trustadm('node', 'list', '--kubeconfig', file, '-o', 'json')
    assert.equal(code, 4)
    const {error} = JSON.parse(stderr) as {error: {code: string; hints: string[]}}
    assert.equal(error.code, 'CREDENTIAL_PLUGIN_FAILED')
    assert.equal(error.hints[0], 'install it from example.com')
    assert.equal(stderr.includes('very-secret'), false)
  })

  it('takes context, cluster and user from the command line', async () => {
    const path = join(folder, 'several.conf')
    const [named] = admin.clusters
    await writeFile(
      path,
      formatKubeconfig({
        ...admin,
        clusters: [
          {name: 'right', cluster: named?.cluster ?? {}},
          {name: 'wrong', cluster: {}},
        ],
        users: [{name: 'right', user: admin.users[0]?.user ?? {}}],
        contexts: [{name: 'a', context: {cluster: 'wrong', user: ''}}],
        'current-context': '',
      }),
    )
    const entries = ['--context', 'a', '--cluster', 'right', '--user', 'right']
    const env = {KUBECONFIG: path}
    const ended = await trustadmWith({env}, 'token', 'list', ...entries, '--request-timeout', '20s')
    assert.equal(ended.code, 0, ended.stderr)
    const anonymous = await trustadmWith({env}, 'token', 'list', '--cluster', 'right')
    assert.equal(anonymous.code, 4, anonymous.stderr)
    const mistyped = await trustadmWith({env}, 'token', 'list', '--context', 'b')
    assert.equal(mistyped.code, 2)
    assert.match(mistyped.stderr, /no context "b"[^]*it has: a/)
  })

  it('gives up on a server that does not respond in the time that was given', async () => {
    const ended = await trustadm(
      ...['token', 'list', '--kubeconfig', cluster.kubeconfig, '--request-timeout', '1ns'],
    )
    assert.equal(ended.code, 5, ended.stderr)
    const wrong = await trustadm('token', 'list', '--request-timeout', '5 apples')
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /--request-timeout is not a valid duration/)
  })

  describeWithKubectl('1.36', 'the program for the credentials', function (binary) {
    this.timeout(60_000)
    const versions: [string, object][] = [
      ['v1', {}],
      ['v1beta1', BETA],
    ]
    for (const [version, exec] of versions)
      it(`learns the same from trustadm as from kubectl, with ${version}`, async () => {
        const file = await kubeconfig(version, exec)
        const notes = join(folder, `${version}.json`)
        const kubectl = new Kubectl({binary, kubeconfig: file, home: folder})
        await kubectl.ok('get namespaces')
        const told = JSON.parse(await readFile(notes, 'utf8')) as unknown
        await rm(notes)
        const ended = await trustadm('token', 'list', '--kubeconfig', file)
        assert.equal(ended.code, 0, ended.stderr)
        assert.deepEqual(JSON.parse(await readFile(notes, 'utf8')), told)
      })
  })
})
