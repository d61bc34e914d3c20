import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {clusterInfoConfigMap} from '../../src/bootstrap/cluster-info.ts'
import {isToken, parseToken} from '../../src/bootstrap/token.ts'
import {weaknessOf} from '../../src/bootstrap/generate-token.ts'
import {run} from '../cli/program.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const TOKEN = 'nh3k2b.x8s0vq1zr5mw7cpd'

describe('token', () => {
  let server: TestServer
  let folder = ''
  let kubeconfig = ''
  before(async () => {
    server = await startTestServer({controllers: false})
    folder = await mkdtemp(join(tmpdir(), 'trustadm-token-'))
    kubeconfig = join(folder, 'admin.conf')
    const content = await server.kubeconfigFor('admin', ['system:masters'])
    await writeFile(kubeconfig, content, {mode: 0o600})
  })
  after(async () => {
    await server.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const token = (command: string, ...more: string[]) =>
    run('token', command, '--kubeconfig', kubeconfig, ...more)
  const listed = async () => {
    const {stdout} = await token('list', '--output', 'json')
    return (JSON.parse(stdout) as {tokens: {id: string; token: string; groups: string[]}[]}).tokens
  }
  afterEach(async () => {
    const ids = (await listed()).map(({id}) => id)
    if (ids.length > 0) await token('delete', ...ids)
  })

  const file = async (content: string, name = 'token.txt') => {
    const path = join(folder, name)
    await writeFile(path, content, {mode: 0o600})
    return path
  }

  describe('generate', () => {
    it('prints a strong token, and asks no server', async () => {
      const {stdout, stderr, exit} = await run('token', 'generate')
      assert.ok(isToken(stdout.trim()))
      assert.equal(weaknessOf(parseToken(stdout.trim())), undefined)
      assert.equal(stderr, '')
      assert.equal(exit, 0)
    })

    it('prints another one each time', async () => {
      const first = await run('token', 'generate')
      const second = await run('token', 'generate')
      assert.notEqual(first.stdout, second.stdout)
    })
  })

  describe('create', () => {
    it('prints the token and nothing else on the standard output, and what it allows beside it', async () => {
      const {stdout, stderr, exit} = await token('create')
      assert.equal(exit, 0, stderr)
      assert.ok(isToken(stdout.trim()))
      assert.deepEqual(
        (await listed()).map((one) => one.token),
        [stdout.trim()],
      )
      assert.match(stderr, /^token \S+ can join machines [^\n]+\n$/)
      assert.doesNotMatch(stderr, new RegExp(stdout.trim().slice(7)))
    })

    it('warns only of what lasts longer than by default, and of nothing with --quiet', async () => {
      for (const ttl of ['0', '48h']) {
        assert.match((await token('create', '--ttl', ttl)).stderr, /^Warning: token /)
        assert.equal((await token('create', '--ttl', ttl, '--quiet')).stderr, '')
      }
      assert.doesNotMatch((await token('create', '--ttl', '24h')).stderr, /Warning/)
    })

    it('prints the join line with the pin of the CA', async () => {
      const {stdout} = await token('create', '--print-join-command')
      const {host} = new URL(server.url)
      assert.match(
        stdout,
        new RegExp(
          `^trustadm join ${host} --token [a-z0-9]{6}\\.[a-z0-9]{16} --discovery-token-ca-cert-hash sha256:[0-9a-f]{64}\\n$`,
        ),
      )
    })

    it('says that the join line cannot work where there is no cluster-info', async () => {
      const without = await token('create', '--print-join-command')
      assert.match(without.stderr, /the join command cannot work: this cluster has no cluster-info/)
      const map = clusterInfoConfigMap({server: server.url, ca: server.ca})
      const admin = server.clientAs(ADMIN)
      await admin.configMaps.create(map)
      const {stderr} = await token('create', '--print-join-command')
      await admin.configMaps.delete('kube-public/cluster-info')
      assert.doesNotMatch(stderr, /cannot work/)
    })

    it('makes no token where the join line would be of no use', async () => {
      const {exit} = await token('create', '--usages', 'signing', '--print-join-command')
      assert.equal(exit, 2)
      assert.deepEqual(await listed(), [])
    })

    it('takes usages, groups, a description and a time span', async () => {
      const flags = ['--usages', 'authentication', '--groups', 'system:bootstrappers:rack-7']
      await token('create', ...flags, '--description', 'rack 7', '--ttl', '0')
      const {stdout} = await token('list')
      assert.match(
        stdout,
        /<forever> +<never> +authentication +rack 7 +system:bootstrappers:rack-7\n$/,
      )
    })

    it('warns of a token on the command line, and takes it', async () => {
      const {stdout, stderr} = await token('create', TOKEN)
      assert.equal(stdout, `${TOKEN}\n`)
      assert.match(stderr, /a token on the command line/)
      assert.doesNotMatch(stderr, /x8s0vq/)
    })

    it('reads a token from a file, without that warning', async () => {
      const {stdout, stderr} = await token('create', '--token-file', await file(`${TOKEN}\n`))
      assert.equal(stdout, `${TOKEN}\n`)
      assert.doesNotMatch(stderr, /command line/)
    })

    it('takes a token from the environment', async () => {
      process.env.TRUSTADM_TOKEN = TOKEN
      try {
        assert.equal((await token('create')).stdout, `${TOKEN}\n`)
      } finally {
        delete process.env.TRUSTADM_TOKEN
      }
    })

    it('ends with 6 where the id is in use', async () => {
      await token('create', TOKEN)
      const {stderr, stdout, exit} = await token('create', 'nh3k2b.q1zr5mw7cpdx8s0v')
      assert.equal(exit, 6)
      assert.equal(stdout, '')
      assert.match(stderr, /a token with the id "nh3k2b" already/)
    })

    it("refuses the documentation's example, and takes it with --allow-weak", async () => {
      const example = 'abcdef.0123456789abcdef'
      const {stderr, exit} = await token('create', example)
      assert.equal(exit, 2)
      assert.match(stderr, /--allow-weak/)
      assert.equal((await token('create', example, '--allow-weak')).exit, 0)
    })

    it('creates all tokens of a configuration', async () => {
      const config = await file(
        `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
bootstrapTokens:
- token: ${TOKEN}
- description: another
  groups: [system:bootstrappers:rack-7]
`,
        'config.yaml',
      )
      const {stdout} = await token('create', '--config', config, '--output', 'json')
      const result = JSON.parse(stdout) as {token: string; tokens: unknown[]}
      assert.equal(result.token, TOKEN)
      assert.equal(result.tokens.length, 2)
      assert.equal((await listed()).length, 2)
    })

    it('says what it would make, and makes nothing, in a dry run', async () => {
      const {stdout} = await token('create', TOKEN, '--dry-run')
      assert.match(
        stdout,
        /^would create the token nh3k2b\.\*{16} for authentication, signing that/,
      )
      assert.deepEqual(await listed(), [])
    })

    const refusals: {name: string; args: string[]; code: number}[] = [
      {name: 'an unknown usage', args: ['--usages', 'dancing'], code: 2},
      {name: 'a group that is none', args: ['--groups', 'system:masters'], code: 2},
      {
        name: 'groups for a token that lets nobody in',
        args: ['--usages', 'signing', '--groups', 'system:bootstrappers:a'],
        code: 2,
      },
      {name: 'a time span that is none', args: ['--ttl', 'tomorrow'], code: 2},
      {name: 'a time span before now', args: ['--ttl=-1h'], code: 2},
      {name: 'a configuration that is not there', args: ['--config', '/nowhere'], code: 1},
      {name: 'a token beside a configuration', args: [TOKEN, '--config', '/nowhere'], code: 2},
      {name: 'a token beside a file', args: [TOKEN, '--token-file', '/nowhere'], code: 2},
    ]
    for (const {name, args, code} of refusals) {
      it(`refuses ${name}, and makes nothing`, async () => {
        const {exit, stdout} = await token('create', ...args)
        assert.equal(exit, code)
        assert.equal(stdout, '')
        assert.deepEqual(await listed(), [])
      })
    }
  })

  describe('list', () => {
    it("prints kubeadm's columns, also where there is nothing", async () => {
      const {stdout} = await token('list')
      assert.match(stdout, /^TOKEN +TTL +EXPIRES +USAGES +DESCRIPTION +EXTRA GROUPS\n$/)
    })

    it('covers the secrets on a terminal, unless they are asked for', async () => {
      await token('create', TOKEN)
      const {isTTY} = process.stdout
      process.stdout.isTTY = true
      try {
        for (const format of ['table', 'wide', 'json', 'yaml']) {
          const {stdout} = await token('list', '--output', format)
          assert.match(stdout, /nh3k2b\.\*{16}/)
          assert.doesNotMatch(stdout, /x8s0vq/)
        }
        assert.match((await token('list', '--show-secrets')).stdout, new RegExp(TOKEN))
      } finally {
        process.stdout.isTTY = isTTY
      }
    })

    it('prints ids that "token delete" takes', async () => {
      await token('create', TOKEN)
      assert.equal((await token('list', '--output', 'name')).stdout, 'nh3k2b\n')
    })

    it('shows with --output wide when a token was made and whether it is of use', async () => {
      await token('create', TOKEN)
      const {stdout} = await token('list', '--output', 'wide')
      assert.match(stdout, /CREATED +STATE\n/)
      assert.match(stdout, /Z +usable\n$/)
    })

    it('lets a description neither move the cursor nor make another line', async () => {
      await token('create', '--description', 'a\u001B[2Jb\nc')
      const {stdout} = await token('list')
      assert.match(stdout, /a \[2Jb c/)
      assert.equal(stdout.split('\n').length, 3)
    })
  })

  describe('delete', () => {
    it('says what it deleted', async () => {
      await token('create', TOKEN)
      const {stdout, exit} = await token('delete', TOKEN)
      assert.equal(stdout, 'bootstrap token "nh3k2b" deleted\n')
      assert.equal(exit, 0)
      assert.deepEqual(await listed(), [])
    })

    it('fails for a token that is not there, with its id', async () => {
      const {stderr, stdout, exit} = await token('delete', 'absent')
      assert.equal(exit, 1)
      assert.equal(stdout, '')
      assert.match(stderr, /there is no token with the id "absent"/)
    })

    it('deletes nothing if one of the names is none', async () => {
      await token('create', TOKEN)
      assert.equal((await token('delete', 'nh3k2b', 'no-id')).exit, 2)
      assert.equal((await listed()).length, 1)
    })

    it('deletes nothing by a whole token whose secret is another one', async () => {
      await token('create', TOKEN)
      const {stderr, exit} = await token('delete', 'nh3k2b.q1zr5mw7cpdx8s0v')
      assert.equal(exit, 6)
      assert.match(stderr, /nothing was deleted/)
      assert.doesNotMatch(stderr, /q1zr5/)
      assert.equal((await listed()).length, 1)
    })

    it('fails where nothing is named', async () => {
      const {stderr, exit} = await token('delete')
      assert.equal(exit, 2)
      assert.match(stderr, /<token> is missing/)
    })
  })

  it('tells of a server that cannot be reached, and not of the token', async () => {
    const content = await server.kubeconfigFor('admin', ['system:masters'])
    const elsewhere = await file(content.replace(server.url, 'https://127.0.0.1:1'), 'away.conf')
    const {stderr, exit} = await run(
      'token',
      'create',
      TOKEN,
      '--kubeconfig',
      elsewhere,
      '--verbose',
    )
    assert.equal(exit, 1)
    assert.match(stderr, /127\.0\.0\.1:1/)
    assert.doesNotMatch(stderr, /x8s0vq/)
  })

  const LINES = [
    'token create abcdef.CANARY7890123456',
    'token create abcdef.canary789012345',
    'token create one abcdef.canary7890123456',
    'token create abcdef canary7890123456',
    'token create --tokn=abcdef.canary7890123456',
    'token create -tabcdef.canary7890123456',
    'token create --output abcdef.canary7890123456',
    'token create --ttl abcdef.canary7890123456',
    'token create --token-file abcdef.canary7890123456 canary7890123456',
    'token list abcdef.canary7890123456',
    'token generate abcdef.canary7890123456',
    'token delete abcdef.canary789012345',
    'token delete abcdef:canary7890123456',
    'token abcdef.canary7890123456',
    'tokens create abcdef.canary7890123456',
    'init --token abcdef.canary789012345',
    'init --token abcdef.canary7890123456 --token-file x',
    'init phase abcdef.canary7890123456',
    'init phase bootstrap-token --token abcdef.canary789012345',
    // Refused: a flag before the command belongs to it, and init would run.
    '--token=abcdef.canary7890123456 init nonsense',
  ]
  for (const line of LINES) {
    for (const verbosity of ['--quiet', '--verbose', '--output=json']) {
      it(`repeats no secret of "${line} ${verbosity}"`, async () => {
        const {stderr, stdout, exit} = await run(...line.split(' '), verbosity)
        assert.notEqual(exit, 0)
        assert.doesNotMatch(stderr + stdout, /canary/i)
      })
    }
  }
})
