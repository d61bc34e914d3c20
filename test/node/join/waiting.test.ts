import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {connect, createServer, type Server} from 'node:net'
import {join} from 'node:path'
import {PassThrough} from 'node:stream'
import {clusterInfoConfigMap, formatClusterInfo} from '../../../src/bootstrap/cluster-info.ts'
import {describeToken} from '../../../src/bootstrap/token-info.ts'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import type {JoinSettings} from '../../../src/node/join/phase.ts'
import {systemClock} from '../../../src/runtime.ts'
import {issue, makeAuthority} from '../../client/support/certificates.ts'
import {answer, status} from '../../client/support/fake-api.ts'
import {Cleanup, listen, serveTls} from '../../client/support/servers.ts'
import {
  answerData,
  CLUSTER_INFO_PATH,
  signedData,
  startFakeCluster,
} from '../../discovery/support.ts'
import {
  joinRequest,
  startJoinableCluster,
  TOKEN,
  TOKEN_TEXT,
  useFolder,
  type JoinableCluster,
} from '../support.ts'

/** In the tests that succeed, much longer than they take. */
const LONG = 60_000

describe('join while the cluster is not ready', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const dir = () => join(folder(), 'node')
  const cleanup = new Cleanup()
  let cluster: JoinableCluster
  beforeEach(async () => {
    cluster = cleanup.add(await startJoinableCluster())
    cleanup.add(cluster.issueAll())
  })
  afterEach(() => cleanup.run())

  /** Runs join, and calls `heal` once it says that it waits. */
  const waiting = async (
    settings: JoinSettings,
    heal: () => Promise<unknown>,
    {phases = joinPhases(), begin = (_phase: string) => Promise.resolve(), input = ''} = {},
  ) => {
    const request = joinRequest(settings)
    let healing: Promise<unknown> | undefined
    const note = (line: string) => {
      request.lines.push(line)
      if (line.startsWith('waiting: ')) healing ??= heal()
    }
    const stdin = new PassThrough()
    stdin.end(input)
    const observed = phases.map((phase) => ({
      ...phase,
      run: async (context: Parameters<typeof phase.run>[0]) => {
        await begin(phase.name)
        await phase.run(context)
      },
    }))
    await runJoin({...request, note, input: stdin}, observed)
    assert.ok(healing, 'it never waited')
    await healing
    return request.lines
  }

  describe('because its init has not finished', () => {
    const METADATA = {name: 'cluster-info', namespace: 'kube-public'}
    const SECRET = {name: `bootstrap-token-${TOKEN.id}`, namespace: 'kube-system'}
    let document: string
    beforeEach(() => {
      document = formatClusterInfo({server: cluster.url, ca: cluster.ca})
    })

    const ways = {
      token: () => Promise.resolve({}),
      file: async () => {
        const file = join(folder(), 'cluster.yaml')
        await writeFile(file, document)
        return {discovery: {file}}
      },
      'an https:// URL': async () => {
        const web = await makeAuthority('web')
        const pair = await issue(web)
        const host = cleanup.add(await serveTls(pair, (_, response) => response.end(document)))
        return {discovery: {file: `${host.url}/cluster.yaml`, fileCa: web.pem}}
      },
      'standard input': () => Promise.resolve({discovery: {file: '-'}}),
      'a bootstrap kubeconfig': async () => {
        const bootstrapKubeconfig = join(folder(), 'bootstrap.conf')
        const config = JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [
            {
              name: 'c',
              cluster: {
                server: cluster.url,
                'certificate-authority-data': Buffer.from(cluster.ca).toString('base64'),
              },
            },
          ],
          users: [{name: 'u', user: {token: TOKEN_TEXT}}],
          contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
          'current-context': 'x',
        })
        await writeFile(bootstrapKubeconfig, config)
        return {discovery: {}, token: undefined, bootstrapKubeconfig}
      },
    }
    const publish = async () => {
      await cluster.admin.secrets.create(toSecret(describeToken(TOKEN, {}, systemClock.now())))
      await cluster.admin.configMaps.delete(METADATA).catch(() => undefined)
      const map = clusterInfoConfigMap({server: cluster.url, ca: cluster.ca})
      const data = signedData({server: cluster.url, ca: cluster.ca}) as Record<string, string>
      await cluster.admin.configMaps.create({...map, data})
    }
    for (const [way, prepare] of Object.entries(ways)) {
      it(`waits for cluster-info and the token, by ${way}`, async () => {
        await cluster.admin.configMaps.delete(METADATA)
        await cluster.admin.secrets.delete(SECRET)
        const settings = cluster.settings(dir(), 'one', {timeout: LONG, ...(await prepare())})
        await waiting(settings, publish, {input: document})
        assert.ok(await cluster.admin.nodes.find('one'))
      })

      it(`waits for the token where cluster-info is there already, by ${way}`, async () => {
        await cluster.admin.configMaps.delete(METADATA)
        await cluster.admin.configMaps.create(
          clusterInfoConfigMap({server: cluster.url, ca: cluster.ca}),
        )
        await cluster.admin.secrets.delete(SECRET)
        const settings = cluster.settings(dir(), 'one', {timeout: LONG, ...(await prepare())})
        await waiting(settings, publish, {input: document})
        assert.ok(await cluster.admin.nodes.find('one'))
      })
    }

    it('does not wait with a wrong secret of a token that has signed cluster-info', async () => {
      const {discovery} = await ways.file()
      const settings = cluster.settings(dir(), 'one', {
        discovery,
        token: `${TOKEN.id}.0000000000000000`,
        timeout: 3_600_000,
      })
      await assert.rejects(runJoin(joinRequest(settings), joinPhases()), {code: 'UNAUTHORIZED'})
    })
  })

  describe('because it is away for a moment', () => {
    /** Forwards to the cluster, unless it is down. */
    const startProxy = async () => {
      let isDown = false
      const server: Server = createServer((socket) => {
        socket.on('error', () => undefined)
        if (isDown) return void socket.destroy()
        const target = connect(cluster.port, '127.0.0.1')
        target.on('error', () => undefined)
        socket.pipe(target).pipe(socket)
        socket.once('close', () => target.destroy())
        target.once('close', () => socket.destroy())
      })
      const {port, sockets, stop} = cleanup.add(await listen(server, 'https'))
      return {
        url: `https://127.0.0.1:${port}`,
        endpoint: `127.0.0.1:${port}`,
        down: () => {
          isDown = true
          for (const socket of sockets) socket.destroy()
        },
        up: () => {
          isDown = false
        },
        stop,
      }
    }

    for (const {name, isForKubelet} of [
      {name: 'tls-bootstrap', isForKubelet: false},
      {name: 'register-node', isForKubelet: false},
      {name: 'for-kubelet', isForKubelet: true},
    ]) {
      it(`waits in the phase ${name}, and says for what`, async () => {
        const proxy = await startProxy()
        await cluster.publish({server: proxy.url, ca: cluster.ca})
        const discovery = {
          endpoints: [proxy.endpoint],
          token: TOKEN_TEXT,
          caCertHashes: [cluster.pin],
        }
        const begin = (phase: string) => {
          if (phase === name) proxy.down()
          return Promise.resolve()
        }
        const heal = () => Promise.resolve(proxy.up())
        const lines = await waiting(
          cluster.settings(dir(), 'one', {discovery, timeout: LONG}),
          heal,
          {phases: joinPhases({forKubelet: isForKubelet}), begin},
        )
        assert.ok(lines.some((line) => line.startsWith(`waiting: ${proxy.url} `)))
      })
    }
  })
})

describe('join with a time limit', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  it('ends at its deadline when a busy server asks to wait longer, and says for what it waits', async () => {
    const fake = cleanup.add(await startFakeCluster())
    const data = signedData({server: fake.url, ca: fake.ca})
    fake.answerWith((request, response) => {
      if (request.url === CLUSTER_INFO_PATH) return answerData(response, data)
      if (request.method === 'GET') {
        return answer(response, 403, status(403, 'Forbidden', 'nodes are not for tokens'))
      }
      response.setHeader('retry-after', '30')
      answer(response, 429, status(429, 'TooManyRequests', '500 requests are pending'))
    })
    const request = joinRequest({
      dir: join(folder(), 'node'),
      nodeName: 'one',
      discovery: {endpoints: [fake.endpoint], token: TOKEN_TEXT, caCertHashes: [fake.pin]},
      token: TOKEN_TEXT,
      timeout: 1000,
    })
    await assert.rejects(runJoin(request, joinPhases()), {code: 'TOO_MANY_REQUESTS'})
    assert.ok(request.lines.some((line) => /^waiting: .*500 requests are pending/.test(line)))
  })

  it('ends at its deadline when the server stops responding', async () => {
    const fake = cleanup.add(await startFakeCluster())
    const data = signedData({server: fake.url, ca: fake.ca})
    fake.answerWith((request, response) => {
      if (request.url === CLUSTER_INFO_PATH) answerData(response, data)
    })
    const request = joinRequest({
      dir: join(folder(), 'node'),
      nodeName: 'one',
      discovery: {endpoints: [fake.endpoint], token: TOKEN_TEXT, caCertHashes: [fake.pin]},
      token: TOKEN_TEXT,
      timeout: 1000,
    })
    await assert.rejects(runJoin(request, joinPhases()), {code: 'TIMED_OUT'})
  })
})
