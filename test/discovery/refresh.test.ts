import assert from 'node:assert/strict'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {discover} from '../../src/discovery/discover.ts'
import {formatStored, parseStored} from '../../src/discovery/cluster-info.ts'
import {refreshClusterInfo} from '../../src/discovery/refresh.ts'
import {issue, makeAuthority} from '../client/support/certificates.ts'
import {
  answerData,
  ONCE,
  TOKEN_TEXT,
  answerStatus,
  startFakeCluster,
  type FakeCluster,
} from './support.ts'
import {Cleanup, serveTls} from '../client/support/servers.ts'

describe('refreshClusterInfo', () => {
  const cleanup = new Cleanup()
  let cluster: FakeCluster
  beforeEach(async () => {
    cluster = cleanup.add(await startFakeCluster())
  })
  afterEach(() => cleanup.run())

  const kept = (server = cluster.url, endpoints: string[] = []) => ({
    ...parseStored(formatClusterInfo({server, ca: cluster.ca})),
    endpoints,
  })

  it('has nothing to keep where nothing has changed', async () => {
    const {info, changed, problem} = await refreshClusterInfo(kept(), ONCE)
    assert.deepEqual([info.ca, changed, problem], [cluster.ca, false, undefined])
  })

  it('follows a rotation of the CA, step by step', async () => {
    const next = await makeAuthority('kubernetes')
    const both = cluster.ca + next.pem
    cluster.publish({kubeconfig: formatClusterInfo({server: cluster.url, ca: both})})
    const first = await refreshClusterInfo(kept(), ONCE)
    assert.deepEqual([first.changed, first.info.ca], [true, both])

    const {port} = cleanup.add(
      await serveTls(await issue(next), (_request, response) =>
        answerData(response, {
          kubeconfig: formatClusterInfo({server: cluster.url, ca: next.pem}),
        }),
      ),
    )
    const moved = {...first.info, server: `https://127.0.0.1:${port}`}
    const second = await refreshClusterInfo(moved, ONCE)
    assert.deepEqual([second.changed, second.info.ca], [true, next.pem])
  })

  it('finds the cluster under a further address, and keeps the old ones', async () => {
    const gone = await startFakeCluster()
    await gone.stop()
    const {info, changed} = await refreshClusterInfo(kept(gone.url, [cluster.url]), ONCE)
    assert.deepEqual([info.server, info.endpoints, changed], [cluster.url, [gone.url], true])
  })

  it('uses the kept one on where the server cannot be reached', async () => {
    await cluster.stop()
    const before = kept()
    const {info, changed, problem} = await refreshClusterInfo(before, ONCE)
    assert.deepEqual([info, changed], [before, false])
    assert.equal((problem as {code?: string}).code, 'SERVER_UNREACHABLE')
  })

  for (const {name, code, change} of [
    {
      name: 'does not show it',
      code: 'CLUSTER_INFO_FORBIDDEN',
      change: () =>
        cluster.answerWith((_request, response) => answerStatus(response, 403, 'Forbidden')),
    },
    {
      name: 'shows credentials',
      code: 'CLUSTER_INFO_CREDENTIALS',
      change: () => cluster.publish({kubeconfig: 'users: [{user: {token: x}}]'}),
    },
    {
      name: 'names no CA any more',
      code: 'CLUSTER_INFO_INVALID',
      change: () => cluster.publish({kubeconfig: formatClusterInfo({server: cluster.url})}),
    },
  ]) {
    it(`uses the kept one on where the server ${name}`, async () => {
      change()
      const before = kept()
      const {info, problem} = await refreshClusterInfo(before, ONCE)
      assert.equal(info, before)
      assert.equal((problem as {code?: string}).code, code)
    })
  }

  it('believes nobody whom the kept CA does not vouch for', async () => {
    const thief = cleanup.add(await startFakeCluster())
    const before = kept(thief.url)
    const {info, problem} = await refreshClusterInfo(before, ONCE)
    assert.equal(info, before)
    assert.equal((problem as {code?: string}).code, 'SERVER_NOT_TRUSTED')
    assert.deepEqual(thief.requests, [])
  })

  it('ends with the reason of a signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await assert.rejects(refreshClusterInfo(kept(), {...ONCE, signal}), /enough/)
  })
})

describe('the kept ClusterInfo', () => {
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  it('is read back as it was, with its further addresses', async () => {
    const cluster = cleanup.add(await startFakeCluster())
    const found = await discover(
      {
        token: TOKEN_TEXT,
        endpoints: [cluster.endpoint, 'localhost:1'],
        caCertHashes: [cluster.pin],
      },
      ONCE,
    )
    const text = formatStored(found)
    const back = parseStored(text)
    assert.deepEqual(
      {server: back.server, ca: back.ca, endpoints: back.endpoints, pins: back.pins},
      {
        server: cluster.url,
        ca: cluster.ca,
        endpoints: ['https://localhost:1'],
        pins: [cluster.pin],
      },
    )
    assert.equal(formatStored(back), text)
  })

  it('has no extension where there are no further addresses', () => {
    const kubeconfig = formatClusterInfo({server: 'https://a:1'})
    assert.doesNotMatch(formatStored({kubeconfig, endpoints: []}), /extensions/)
  })

  it('leaves out what is no address', () => {
    const text =
      'clusters: [{cluster: {server: https://a:1, extensions: [null, {name: trustadm.io/endpoints, ' +
      'extension: {endpoints: [http://b:1, 7, https://c:1]}}]}}]'
    assert.deepEqual(parseStored(text).endpoints, ['https://c:1'])
  })
})
