import assert from 'node:assert/strict'
import {chmod, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {ExecConfig} from '../../src/client/exec-config.ts'
import {parseCredential} from '../../src/client/exec-credential.ts'
import {runPlugin} from '../../src/client/exec-program.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {TrustError} from '../../src/errors.ts'
import {issue, makeAuthority} from './support/certificates.ts'

const SECRET = 'very-secret-value'
const V1 = 'client.authentication.k8s.io/v1'

describe('the program that a kubeconfig gets its credentials from', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'exec-program-'))
  })
  after(() => rm(folder, {recursive: true, force: true}))

  const options = () => ({
    environment: {PATH: `${folder}:/usr/bin:/bin`},
    isTerminal: false,
    isSilent: true,
  })

  async function script(name: string, text: string): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, `#!/bin/sh\n${text}\n`)
    await chmod(path, 0o755)
    return path
  }

  const config = (command: string, more: Partial<ExecConfig> = {}): ExecConfig => ({
    apiVersion: V1,
    command,
    args: [SECRET],
    env: {},
    interactiveMode: 'Never',
    ...more,
  })

  async function failure(work: Promise<unknown>): Promise<TrustError> {
    const error = await work.then(
      () => assert.fail('it did not fail'),
      (thrown: unknown) => thrown as TrustError,
    )
    assert.equal(error.code, 'CREDENTIAL_PLUGIN_FAILED')
    const shown = JSON.stringify([error.message, error.suggestions, error.facts, error.stack])
    assert.equal(shown.includes(SECRET), false, shown)
    return error
  }

  it('gets its arguments, its variables after those of the environment, and the cluster', async () => {
    await script('show', 'echo "$1|$KEPT|$CHANGED|$KUBERNETES_EXEC_INFO"')
    const {environment} = options()
    const printed = await runPlugin(
      config('show', {env: {CHANGED: 'by env'}, cluster: {server: 'https://a'}}),
      {environment: {...environment, KEPT: 'kept', CHANGED: 'no'}, isTerminal: false},
    )
    const [argument, kept, changed, info = ''] = printed.trim().split('|')
    assert.deepEqual([argument, kept, changed], [SECRET, 'kept', 'by env'])
    assert.deepEqual(JSON.parse(info), {
      kind: 'ExecCredential',
      apiVersion: V1,
      spec: {cluster: {server: 'https://a'}, interactive: false},
    })
  })

  it('is asked for by its name only in the absolute folders of PATH', async () => {
    await script('local', 'echo local')
    const environment = {PATH: '.:relative'}
    const error = await failure(
      runPlugin(config('local', {installHint: 'get it\u001b[2J from example.com'}), {environment}),
    )
    assert.match(error.message, /^local, .* is not installed$/)
    assert.match(error.suggestions[0] ?? '', /^get it .*from example\.com$/)
    assert.equal(error.suggestions[0]?.includes('\u001b'), false)
  })

  it('with a path is relative to the folder of the kubeconfig', async () => {
    await script('beside', 'echo beside')
    const path = join(folder, 'config')
    const exec = {apiVersion: V1, command: './beside', interactiveMode: 'Never'}
    await writeFile(path, JSON.stringify({users: [{name: 'u', user: {exec}}]}))
    const {users} = await readKubeconfig(path)
    assert.equal((users[0]?.user.exec as {command: string}).command, join(folder, 'beside'))
  })

  const failures = [
    {name: 'that fails', script: `echo ${SECRET}; exit 3`, says: /failed with exit code 3/},
    {name: 'that is killed', script: `echo ${SECRET}; kill -9 $$`, says: /ended by SIGKILL/},
    {name: 'that prints without end', script: `yes ${SECRET}`, says: /more than 1 MiB/},
  ]
  for (const {name, script: text, says} of failures) {
    it(`reports one ${name}, without its output`, async () => {
      await script('failing', text)
      const error = await failure(runPlugin(config('failing'), options()))
      assert.match(error.message, says)
    })
  }

  it('is ended when it takes too long, with what it has started still running', async () => {
    const pids = join(folder, 'pids')
    await script('slow', `sleep 600 & echo $! > ${pids}; wait`)
    const error = await failure(runPlugin(config('slow'), {...options(), longest: 300}))
    assert.match(error.message, /did not end within 0\.3 s/)
    process.kill(Number(await readFile(pids, 'utf8')), 'SIGKILL')
  })

  it('that needs a person is not run without a terminal', async () => {
    const mark = join(folder, 'ran')
    await script('asks', `touch ${mark}`)
    const error = await failure(runPlugin(config('asks', {interactiveMode: 'Always'}), options()))
    assert.match(error.message, /standard input is not a terminal/)
    await assert.rejects(readFile(mark), {code: 'ENOENT'})
  })

  it('gets no input without a terminal', async () => {
    await script('reads', 'cat; echo end')
    const asked = config('reads', {interactiveMode: 'IfAvailable'})
    assert.equal(await runPlugin(asked, options()), 'end\n')
  })

  describe('returns', () => {
    const credential = (status: unknown, apiVersion = V1) =>
      parseCredential(JSON.stringify({kind: 'ExecCredential', apiVersion, status}), config('p'))

    it('a token and when it expires', () => {
      const expirationTimestamp = '2026-01-01T12:00:00+02:00'
      const {token, expires} = credential({token: 'abc', expirationTimestamp})
      assert.deepEqual([token, expires?.toISOString()], ['abc', '2026-01-01T10:00:00.000Z'])
    })

    it('a client certificate', async () => {
      const {certificate, key} = await issue(await makeAuthority())
      const read = credential({clientCertificateData: certificate, clientKeyData: key})
      assert.equal(read.certificate?.key, key)
      assert.equal(read.token, undefined)
    })

    const refused = [
      {name: 'no JSON', read: () => parseCredential(SECRET, config('p')), says: /did not print/},
      {name: 'another kind', read: () => parseCredential('{}', config('p')), says: /did not print/},
      {
        name: 'another version',
        read: () => credential({token: SECRET}, `${V1}beta1`),
        says: /another version/,
      },
      {name: 'no status', read: () => credential(undefined), says: /neither a token nor/},
      {name: 'an empty token', read: () => credential({token: ''}), says: /neither a token nor/},
      {
        name: 'a token of two lines',
        read: () => credential({token: `${SECRET}\nx: y`}),
        says: /invalid characters/,
      },
      {
        name: 'a key alone',
        read: () => credential({token: 'abc', clientKeyData: SECRET}),
        says: /certificate together with its key/,
      },
      {
        name: 'a time that is none',
        read: () => credential({token: SECRET, expirationTimestamp: 'tomorrow'}),
        says: /not a time/,
      },
    ]
    for (const {name, read, says} of refused) {
      it(`never ${name}, which is refused without being shown`, async () => {
        const error = await failure(Promise.resolve().then(read))
        assert.match(error.message, says)
        assert.notEqual(error.suggestions.length, 0)
      })
    }
  })
})
