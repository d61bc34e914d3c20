import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {waitingAtMost} from '../../src/client/connect.ts'
import {serveTls, listen, Cleanup, type RunningServer} from '../client/support/servers.ts'
import {issue, makeAuthority, type TestAuthority} from '../client/support/certificates.ts'
import {describedCommands, run} from './program.ts'

/** `ca rotate` takes --kubeconfig only to refuse it. */
const WITHOUT = ['start', 'status', 'complete', 'abort'].map((step) => `ca:rotate:${step}`)

describe('a server that hangs', () => {
  const cleanup = new Cleanup()
  let folder = ''
  let authority: TestAuthority
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-hung-'))
    authority = await makeAuthority()
  })
  afterEach(() => cleanup.run())
  after(() => rm(folder, {recursive: true, force: true}))

  /** A kubeconfig of the server. */
  async function kubeconfigOf({url}: RunningServer): Promise<string> {
    const path = join(folder, 'hung.conf')
    const data = Buffer.from(authority.pem).toString('base64')
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{name: 'c', cluster: {server: url, 'certificate-authority-data': data}}],
      users: [{name: 'u', user: {token: 'secret'}}],
      contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
      'current-context': 'x',
    }
    await writeFile(path, JSON.stringify(config))
    return path
  }
  const servers: [string, () => Promise<RunningServer>][] = [
    ['accepts connections and says nothing', () => listen(createServer(), 'https')],
    ['does not answer a request', async () => serveTls(await issue(authority), () => undefined)],
  ]
  for (const [name, start] of servers) {
    it(`is an error of its own, with exit 5 and one attempt, if it ${name}`, async () => {
      const server = cleanup.add(await start())
      const kubeconfig = await kubeconfigOf(server)
      const {stdout, stderr, exit} = await run(
        ...['token', 'list', '--kubeconfig', kubeconfig, '--request-timeout', '300ms'],
      )
      assert.equal(exit, 5, stderr)
      assert.equal(stdout, '')
      assert.match(stderr, new RegExp(`${server.url} did not respond within 0\\.3 s`))
      assert.equal(server.sockets.length, 1)
    })
  }

  it('is waited for 15 s by default, and longer than that for a connection', () => {
    const {timeout, connectTimeout = 0} = waitingAtMost()
    assert.equal(timeout, 15_000)
    assert.ok(connectTimeout > timeout)
  })

  it('may be waited for as long as --request-timeout says, by every command that takes --kubeconfig', async () => {
    const without = Object.values(await describedCommands())
      .filter(({flags}) => 'kubeconfig' in flags && !('request-timeout' in flags))
      .map(({id}) => id)
    assert.deepEqual(without, WITHOUT)
    const wrong = await run('token', 'list', '--request-timeout', 'soon')
    assert.equal(wrong.exit, 2)
    assert.match(wrong.stderr, /--request-timeout is not a valid duration/)
  })
})
