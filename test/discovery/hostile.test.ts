import assert from 'node:assert/strict'
import {mkdtemp, readdir, rm} from 'node:fs/promises'
import {createServer, type Socket} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {jwsKey} from '../../src/bootstrap/cluster-info.ts'
import {discover} from '../../src/discovery/discover.ts'
import type {DiscoverySettings} from '../../src/discovery/settings.ts'
import {TrustError} from '../../src/errors.ts'
import {independentJws} from '../helpers/jws.ts'
import {makeAuthority, issue, from, DAY} from '../client/support/certificates.ts'
import {answer} from '../client/support/fake-api.ts'
import {Cleanup, listen, servePlain, serveTls} from '../client/support/servers.ts'
import {
  ONCE,
  TOKEN,
  TOKEN_TEXT,
  answerData,
  answerStatus,
  signedData,
  startFakeCluster,
  type FakeCluster,
} from './support.ts'

const header = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url')

describe('token discovery from a hostile server', () => {
  const cleanup = new Cleanup()
  let cluster: FakeCluster
  let folder: string
  let home: string
  beforeEach(async () => {
    cluster = cleanup.add(await startFakeCluster())
    folder = await mkdtemp(join(tmpdir(), 'trustadm-discovery-'))
    home = process.cwd()
    process.chdir(folder)
  })
  afterEach(async () => {
    process.chdir(home)
    assert.deepEqual(await readdir(folder), [], 'something was written')
    await rm(folder, {recursive: true})
    await cleanup.run()
  })

  const attempt = (settings: DiscoverySettings = {}, endpoint = cluster.endpoint) =>
    discover(
      {token: TOKEN_TEXT, endpoints: [endpoint], caCertHashes: [cluster.pin]},
      {...ONCE, ...settings},
    )

  async function refused(code: string, settings?: DiscoverySettings, endpoint?: string) {
    await assert.rejects(attempt(settings, endpoint), (error: TrustError) => {
      assert.equal(error.code, code, error.message)
      assert.notEqual(error.suggestions.length, 0, 'no hint')
      const shown = JSON.stringify([error.message, error.suggestions, error.facts])
      assert.doesNotMatch(shown, new RegExp(TOKEN.secret))
      return true
    })
  }

  const listenRaw = async (onSocket: (socket: Socket) => void) => {
    const {port} = cleanup.add(await listen(createServer(onSocket), 'tcp'))
    return `127.0.0.1:${port}`
  }

  it('would trust it if it were honest', async () => {
    const {server, ca, endpoints, source, warnings} = await attempt()
    assert.deepEqual(
      {server, ca, endpoints, source, warnings},
      {server: cluster.url, ca: cluster.ca, endpoints: [], source: 'token', warnings: []},
    )
    assert.deepEqual(new Set(cluster.requests).size, 1)
    assert.equal(cluster.requests.length, 2)
  })

  it('never sends the token, nor any other credential', async () => {
    await attempt()
    for (const headers of cluster.headers) {
      assert.equal(headers.authorization, undefined)
      assert.doesNotMatch(JSON.stringify(headers), new RegExp(`${TOKEN.id}|${TOKEN.secret}`))
    }
  })

  it('refuses a wrong secret', async () => {
    cluster.publish(signedData({server: cluster.url, ca: cluster.ca}, {...TOKEN, secret: 'wrong'}))
    await refused('SIGNATURE_WRONG')
  })

  it('refuses the algorithm "none"', async () => {
    const {kubeconfig} = signedData({server: cluster.url, ca: cluster.ca})
    const jws = `${header({alg: 'none', kid: TOKEN.id})}..`
    cluster.publish({kubeconfig, [jwsKey(TOKEN.id)]: jws})
    await refused('SIGNATURE_ALGORITHM_REFUSED')
  })

  it('refuses a signature with another kid', async () => {
    const {kubeconfig} = signedData({server: cluster.url, ca: cluster.ca})
    const jws = independentJws(String(kubeconfig), {...TOKEN, id: 'zzzzzz'})
    cluster.publish({kubeconfig, [jwsKey(TOKEN.id)]: jws})
    await refused('SIGNATURE_OF_OTHER_TOKEN')
  })

  it('refuses a kubeconfig that is swapped on the second fetch', async () => {
    const good = signedData({server: cluster.url, ca: cluster.ca})
    const swapped = signedData({server: 'https://evil.example:6443', ca: cluster.ca})
    cluster.answerWith((_request, response) =>
      answerData(response, cluster.requests.length === 1 ? good : swapped),
    )
    await refused('CLUSTER_INFO_CHANGED')
    assert.equal(cluster.requests.length, 2)
  })

  it('refuses a second, unpinned CA', async () => {
    const ca = cluster.ca + (await makeAuthority('kubernetes')).pem
    cluster.publish(signedData({server: cluster.url, ca}))
    await refused('CA_UNPINNED')
  })

  it('refuses a CA that is not pinned at all', async () => {
    const {pem: ca} = await makeAuthority('kubernetes')
    cluster.publish(signedData({server: cluster.url, ca}))
    await refused('PIN_MISMATCH')
  })

  it('refuses a signed cluster-info from a server that its CA does not vouch for', async () => {
    const data = signedData({server: cluster.url, ca: cluster.ca})
    const thief = await issue(await makeAuthority('kubernetes'))
    const {port} = cleanup.add(await serveTls(thief, (_, response) => answerData(response, data)))
    await refused('SERVER_NOT_TRUSTED', {}, `127.0.0.1:${port}`)
  })

  it('refuses a redirect, and does not follow it', async () => {
    const other = cleanup.add(await startFakeCluster(cluster.authority))
    cluster.answerWith((_request, response) => {
      response.writeHead(302, {location: `${other.url}/api/v1`}).end()
    })
    await refused('REDIRECT_REFUSED')
    assert.deepEqual(other.requests, [])
  })

  it('refuses plain HTTP', async () => {
    const {port} = cleanup.add(await servePlain((_request, response) => response.end('hello')))
    await refused('SERVER_NOT_TLS', {}, `127.0.0.1:${port}`)
  })

  it('refuses a body without end, long before memory runs out', async () => {
    let sent = 0
    cluster.answerWith((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 32))) sent += 65_536
      }
      response.on('drain', more)
      more()
    })
    await refused('ANSWER_TOO_LARGE')
    assert.ok(sent < 32 * 1024 * 1024, `it could send ${sent} bytes`)
  })

  it('gives up on silence', async () => {
    await refused('TIMED_OUT', {timeout: 150}, await listenRaw(() => undefined))
    cluster.answerWith(() => undefined)
    await refused('TIMED_OUT', {timeout: 150})
  })

  it('refuses garbage in TLS', async () => {
    const garbage = Buffer.concat([Buffer.from('1603030010', 'hex'), Buffer.alloc(16, 0xee)])
    const endpoint = await listenRaw((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(garbage))
    })
    await refused('TLS_FAILED', {}, endpoint)
  })

  it('says that nothing listens', async () => {
    const gone = await startFakeCluster()
    await gone.stop()
    await refused('SERVER_UNREACHABLE', {}, gone.endpoint)
  })

  it('says that what answers is no Kubernetes API', async () => {
    cluster.answerWith((_request, response) => response.end('<html>welcome</html>'))
    await refused('NOT_KUBERNETES')
    cluster.answerWith((_request, response) => response.writeHead(404).end('not here'))
    await refused('NOT_KUBERNETES')
    cluster.answerWith((_request, response) => answer(response, 200, {kind: 'List', items: []}))
    await refused('NOT_KUBERNETES')
  })

  it('says that what answers does not even speak HTTP', async () => {
    const {createServer: createTls} = await import('node:tls')
    const {certificate: cert, key} = await issue(cluster.authority)
    const server = createTls({cert, key}, (socket) => {
      socket.on('error', () => undefined)
      socket.end('SSH-2.0-nothing\r\n\r\n')
    })
    const {port} = cleanup.add(await listen(server, 'tls'))
    await refused('NOT_KUBERNETES', {}, `127.0.0.1:${port}`)
  })

  for (const {status, reason, code} of [
    {status: 404, reason: 'NotFound', code: 'CLUSTER_INFO_MISSING'},
    {status: 403, reason: 'Forbidden', code: 'CLUSTER_INFO_FORBIDDEN'},
    {status: 401, reason: 'Unauthorized', code: 'CLUSTER_INFO_FORBIDDEN'},
    {status: 429, reason: 'TooManyRequests', code: 'TOO_MANY_REQUESTS'},
    {status: 503, reason: 'ServiceUnavailable', code: 'SERVER_ERROR'},
  ]) {
    it(`tells ${status} apart as ${code}`, async () => {
      cluster.answerWith((_request, response) => answerStatus(response, status, reason))
      await refused(code)
    })
  }

  it('says that there is no kubeconfig in cluster-info', async () => {
    for (const data of [{}, {kubeconfig: 7}]) {
      cluster.publish(data)
      await assert.rejects(attempt(), {code: 'CLUSTER_INFO_INVALID', message: /no kubeconfig key/})
    }
  })

  it('says that no signature is for this token', async () => {
    cluster.publish(signedData({server: cluster.url, ca: cluster.ca}, {...TOKEN, id: 'zzzzzz'}))
    await refused('SIGNATURE_MISSING')
  })

  it("says by how much a server's certificate is over, and by how much a clock is behind it", async () => {
    for (const {validity, code, says} of [
      {
        validity: from(-3 * DAY, -2 * DAY - 1000),
        code: 'SERVER_CERTIFICATE_EXPIRED',
        says: /expired 2 days ago/,
      },
      {
        validity: from(2 * DAY + 60_000, 3 * DAY),
        code: 'CLOCK_SKEWED',
        says: /clock of this machine is at least 2 days behind/,
      },
    ]) {
      const pair = await issue(cluster.authority, {validity})
      const data = signedData({server: cluster.url, ca: cluster.ca})
      const {port} = cleanup.add(await serveTls(pair, (_, response) => answerData(response, data)))
      await assert.rejects(attempt({}, `127.0.0.1:${port}`), {code, message: says})
    }
  })

  it('says by how much the clock is off when the CA is out of its time by it', async () => {
    const now = (days: number) => ({now: () => new Date(Date.now() + days * DAY)})
    await assert.rejects(attempt({clock: now(-40)}), {
      code: 'CLOCK_SKEWED',
      message: /at least \d+ days behind/,
    })
    await assert.rejects(attempt({clock: now(40)}), {
      code: 'CLOCK_SKEWED',
      message: /(39|40) days ahead of the server's/,
    })
  })
})
