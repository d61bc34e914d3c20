import assert from 'node:assert/strict'
import {createHmac} from 'node:crypto'
import {mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect, connectTo} from '../../src/client/connect.ts'
import {parseKubeconfig} from '../../src/client/kubeconfig.ts'
import {describeWithKubectl} from '../helpers/clients.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {programFixture, trustadm, trustadmWith, type ProgramFixture} from '../helpers/program.ts'
import {VERSIONS} from './versions.ts'

interface Result {
  endpoint: string
  token: string | null
  joinCommand: string | null
  caCertHashes: string[]
  kubeconfig: string
}

const PATIENCE = 5000

/** Asks until the answer is the wanted one; what it was last is told where it never is. */
async function eventually<T>(ask: () => Promise<T>, wanted: T): Promise<void> {
  const end = performance.now() + PATIENCE
  let answer = await ask()
  while (answer !== wanted && performance.now() < end) {
    await sleep(50)
    answer = await ask()
  }
  assert.equal(answer, wanted)
}

const resultOf = ({stdout, stderr, code}: Awaited<ReturnType<typeof trustadm>>): Result => {
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as Result
}

describe('tokens of a control plane', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let made: Result
  let admin: ApiClient
  let ca = ''
  before(async () => {
    fixture = await programFixture()
    made = resultOf(await fixture.init('--output', 'json'))
    admin = await connect(made.kubeconfig)
    const [entry] = parseKubeconfig(await readFile(made.kubeconfig, 'utf8')).clusters
    ca = Buffer.from(entry?.cluster['certificate-authority-data'] ?? '', 'base64').toString()
  })
  after(async () => {
    await admin.close()
    await fixture.remove()
  })

  const token = (...args: string[]) => trustadm('token', ...args, '--dir', fixture.dir)

  /** cluster-info, as anybody on the network reads it. */
  const published = async (): Promise<Record<string, string>> => {
    const client = connectTo({server: made.endpoint, ca})
    try {
      return (await client.configMaps.get('kube-public/cluster-info')).data ?? {}
    } finally {
      await client.close()
    }
  }
  const isSigned = async (id: string) => `jws-kubeconfig-${id}` in (await published())

  /** Who the server takes the holder of a token for; the code of the refusal where for nobody. */
  const identity = async (bearer: string): Promise<string> => {
    const client = connectTo({
      server: made.endpoint,
      ca,
      bearerToken: () => Promise.resolve(bearer),
    })
    try {
      const {status} = await client.selfSubjectReviews.create({metadata: {}})
      return status?.userInfo?.username ?? ''
    } catch (error) {
      return (error as {code?: string}).code ?? ''
    } finally {
      await client.close()
    }
  }

  it('shows on the terminal which tokens the server refuses, and why', async () => {
    const created = await token('create', 'r3fu5d.x8s0vq1zr5mw7cpd')
    assert.equal(created.code, 0, created.stderr)
    const data = {'auth-extra-groups': Buffer.from('system:masters').toString('base64')}
    await admin.secrets.patch('kube-system/bootstrap-token-r3fu5d', {data}, {type: 'merge'})
    const {stderr} = await token('list')
    assert.match(
      stderr.replaceAll(/\s+/g, ' '),
      /the server refuses the token "r3fu5d": it has a group that no token may have/,
    )
    assert.equal((await token('list', '--output', 'json')).stderr, '')
  })

  it('begin with the one of init, which lets a machine in and signs cluster-info', async () => {
    const [id = '', secret = ''] = made.token?.split('.') ?? []
    assert.equal(await identity(made.token ?? ''), `system:bootstrap:${id}`)
    await eventually(() => isSigned(id), true)
    const data = await published()
    const header = Buffer.from(`{"alg":"HS256","kid":"${id}"}`).toString('base64url')
    const payload = Buffer.from(data.kubeconfig ?? '').toString('base64url')
    const mac = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
    assert.equal(data[`jws-kubeconfig-${id}`], `${header}..${mac}`)
  })

  it('are part of a join line with the address and the pin', () => {
    const {host} = new URL(made.endpoint)
    const pins = made.caCertHashes.map((pin) => `--discovery-token-ca-cert-hash ${pin}`)
    assert.equal(
      made.joinCommand,
      `trustadm join ${host} --token ${made.token ?? ''} ${pins.join(' ')}`,
    )
  })

  it('are kept by a second init, which prints the same line', async () => {
    const again = resultOf(await fixture.init('--output', 'json'))
    assert.equal(again.joinCommand, made.joinCommand)
  })

  it('are not printed with --skip-token-print', async () => {
    const {stdout} = await fixture.init('--skip-token-print')
    assert.doesNotMatch(stdout, new RegExp(made.token ?? ''))
    assert.match(stdout, /trustadm token create --print-join-command/)
  })

  it('come from the standard input, and let in nobody any more once they are deleted', async () => {
    const {stdout} = await trustadm('token', 'generate')
    const created = await trustadmWith(
      {input: stdout},
      'token',
      'create',
      '-',
      '--dir',
      fixture.dir,
    )
    assert.equal(created.stdout, stdout)
    assert.doesNotMatch(created.stderr, /command line/)
    const id = stdout.slice(0, 6)
    assert.equal(await identity(stdout.trim()), `system:bootstrap:${id}`)
    await eventually(() => isSigned(id), true)
    assert.equal((await token('delete', id)).code, 0)
    await eventually(() => identity(stdout.trim()), 'UNAUTHORIZED')
    await eventually(() => isSigned(id), false)
  })

  it('do not wait for a standard input that nobody asked to read', async () => {
    const {code, stdout} = await trustadmWith(
      {input: 'abcdef.0123456789abcdef'},
      'token',
      'create',
      '--dir',
      fixture.dir,
    )
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /abcdef/)
  })

  for (const {version} of VERSIONS) {
    describeWithKubectl(version, 'the same tokens', (binary) => {
      const id = `kctl${version.slice(2)}`
      const whole = `${id}.x8s0vq1zr5mw7cpd`
      let home = ''
      let kubectl: Kubectl
      before(async () => {
        home = await mkdtemp(join(tmpdir(), 'trustadm-token-'))
        kubectl = new Kubectl({
          binary,
          kubeconfig: made.kubeconfig,
          home,
          namespace: 'kube-system',
        })
      })
      after(async () => {
        if (home) await rm(home, {recursive: true, force: true})
      })

      const literals = [
        `token-id=${id}`,
        'token-secret=x8s0vq1zr5mw7cpd',
        'usage-bootstrap-signing=true',
        'usage-bootstrap-authentication=true',
      ]

      it('agree: one that is made as a Secret is listed, signed and lets in; deleted, it is gone', async () => {
        const values = literals.map((literal) => `--from-literal=${literal}`).join(' ')
        const type = '--type=bootstrap.kubernetes.io/token'
        await kubectl.ok(`create secret generic bootstrap-token-${id} ${type} ${values}`)
        const {stdout} = await token('list')
        assert.match(
          stdout,
          new RegExp(`^${whole} +<forever> +<never> +authentication,signing `, 'm'),
        )
        assert.equal(await identity(whole), `system:bootstrap:${id}`)
        await eventually(() => isSigned(id), true)

        await kubectl.ok(`delete secret bootstrap-token-${id}`)
        assert.doesNotMatch((await token('list')).stdout, new RegExp(id))
        await eventually(() => isSigned(id), false)
        await eventually(() => identity(whole), 'UNAUTHORIZED')
      })

      it('agree: one of trustadm is a Secret as kubeadm writes it', async () => {
        const {stdout} = await token('create', '--ttl', '1h', '--description', 'for rack 7')
        const [made = '', secret = ''] = stdout.trim().split('.')
        const text = await kubectl.ok(`get secret bootstrap-token-${made} -o json`)
        const {type, data} = JSON.parse(text) as {type: string; data: Record<string, string>}
        const values = Object.fromEntries(
          Object.entries(data).map(([key, value]) => [
            key,
            Buffer.from(value, 'base64').toString(),
          ]),
        )
        assert.equal(type, 'bootstrap.kubernetes.io/token')
        assert.deepEqual(
          {...values, expiration: values.expiration?.slice(-1)},
          {
            'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
            description: 'for rack 7',
            expiration: 'Z',
            'token-id': made,
            'token-secret': secret,
            'usage-bootstrap-authentication': 'true',
            'usage-bootstrap-signing': 'true',
          },
        )
      })
    })
  }
})

describe('init and its token', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  beforeEach(async () => {
    fixture = await programFixture()
  })
  afterEach(() => fixture.remove())

  it('makes none for --token "", and can make one later', async () => {
    for (const none of [['--token', ''], ['--token=']]) {
      const {token, joinCommand} = resultOf(await fixture.init('--output', 'json', ...none))
      assert.deepEqual({token, joinCommand}, {token: null, joinCommand: null})
    }
    const empty = await trustadm('token', 'list', '--dir', fixture.dir, '--output', 'name')
    assert.equal(empty.stdout, '')
    const phase = await trustadm('init', 'phase', 'bootstrap-token', '--dir', fixture.dir)
    assert.match(phase.stdout, /^trustadm join [^\n]+\n$/)
  })

  it('takes those of a configuration, for as long as is said', async () => {
    const config = join(fixture.folder, 'kubeadm.yaml')
    await writeFile(
      config,
      `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
bootstrapTokens:
- token: nh3k2b.x8s0vq1zr5mw7cpd
  description: of the file
`,
      {mode: 0o600},
    )
    const flags = ['--config', config, '--token-ttl', '1h30m', '--output', 'json']
    const {token, joinCommand} = resultOf(await fixture.init(...flags))
    assert.equal(token, 'nh3k2b.x8s0vq1zr5mw7cpd')
    assert.match(joinCommand ?? '', /--token nh3k2b\.x8s0vq1zr5mw7cpd /)
    const {stdout} = await trustadm('token', 'list', '--dir', fixture.dir)
    assert.match(stdout, /^nh3k2b\.x8s0vq1zr5mw7cpd +1h .* of the file /m)
  })

  it('refuses a weak one before anything is written', async () => {
    const {code, stderr} = await fixture.init('--token', 'abcdef.0123456789abcdef')
    assert.equal(code, 2)
    assert.match(stderr, /easy to guess/)
    assert.deepEqual(await readdir(fixture.folder), [])
  })
})
