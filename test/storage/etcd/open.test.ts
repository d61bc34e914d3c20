import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import type {TrustError} from '../../../src/errors.ts'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd} from '../../helpers/etcd.ts'

interface FakeMember {
  url: string
  version: string
  cluster: string
  /** It accepts connections and answers nothing. */
  isSilent: boolean
  /** It serves everything but its status. */
  hidesVersion: boolean
  server: Server
}

describe('opening an etcd of several members', () => {
  let members: FakeMember[]
  let lines: string[]

  async function startMember(version: string): Promise<FakeMember> {
    const server = createServer((request, response) => {
      const {version, cluster, isSilent, hidesVersion} = member
      if (hidesVersion && request.url === '/v3/maintenance/status') {
        response.writeHead(403).end('{"code":7,"message":"etcdserver: permission denied"}')
        return
      }
      const header = {revision: '1', cluster_id: cluster}
      if (!isSilent) response.end(JSON.stringify({header, version}))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const member: FakeMember = {
      url,
      version,
      cluster: '1',
      isSilent: false,
      hidesVersion: false,
      server,
    }
    return member
  }
  function stop({server}: FakeMember): void {
    server.closeAllConnections()
    server.close()
  }

  beforeEach(async () => {
    lines = []
    members = await Promise.all(['3.5.13', '3.6.0', '3.5.21'].map(startMember))
  })
  afterEach(() => members.forEach(stop))

  const open = async (wait?: (reason: unknown) => void) => {
    const servers = members.map(({url}) => url)
    // Longer than one attempt: the first one may be at a member that is silent.
    const options = {tell: (line: string) => lines.push(line), patience: 8_000, ...(wait && {wait})}
    const storage = await openEtcdStorage({servers, prefix: '/test'}, options)
    await storage.close()
  }
  const change = (index: number, changes: Partial<FakeMember>) =>
    Object.assign(members[index] ?? {}, changes)

  for (const index of [0, 1, 2])
    it(`refuses it if number ${index} has watches that cannot be relied on`, async () => {
      change(index, {version: '3.5.4'})
      const message = `${members[index]?.url ?? ''} runs etcd 3.5.4, which is too old`
      await assert.rejects(open(), {code: 'CONFIG_INVALID', message})
    })

  it('names all that are too old', async () => {
    change(0, {version: '3.4.30'})
    change(2, {version: '3.5.12'})
    await assert.rejects(open(), {message: /runs etcd 3\.4\.30, .* runs etcd 3\.5\.12, which/})
  })

  it('opens it if all are new enough, and says nothing', async () => {
    await open()
    assert.deepEqual(lines, [])
  })

  it('opens it without members that cannot be reached, and says which', async () => {
    const [, silent, gone] = members
    change(1, {isSilent: true})
    if (gone) stop(gone)
    await open()
    assert.deepEqual(
      lines.sort(),
      [
        `${silent?.url ?? ''} did not respond in time; the version of this member is not known`,
        `${gone?.url ?? ''}: nothing listens there; the version of this member is not known`,
      ].sort(),
    )
  })

  const REASON = /no member tells its version: http.*permission denied, http.*permission denied/

  it('refuses it if no member tells its version', async () => {
    for (const index of [0, 1, 2]) change(index, {hidesVersion: true})
    await assert.rejects(open(), {code: 'STORE_UNREACHABLE', message: REASON})
  })

  it('waits until a member tells its version, and says why', async () => {
    for (const index of [0, 1, 2]) change(index, {hidesVersion: true})
    const reasons: unknown[] = []
    await open((reason) => {
      reasons.push(reason)
      change(1, {hidesVersion: false})
    })
    assert.equal(reasons.length, 1)
    assert.match(String(reasons[0]), REASON)
    assert.equal(lines[0], 'etcd responds')
  })

  it('still refuses one that is too old if another one cannot be reached', async () => {
    change(1, {isSilent: true})
    change(2, {version: '3.5.4'})
    await assert.rejects(open(), {code: 'CONFIG_INVALID', message: /runs etcd 3\.5\.4/})
  })

  it('refuses members of different clusters, and calls none of them wrong', async () => {
    change(1, {cluster: '2'})
    const [one = '', two = '', three = ''] = members.map(({url}) => url)
    const together = [one, three].sort().join(', ')
    const groups = two < together ? [two, together] : [together, two]
    await assert.rejects(open(), ({code, message, suggestions}: TrustError) => {
      assert.equal(code, 'CONFIG_INVALID')
      assert.equal(message, `the members belong to different etcd clusters: ${groups.join(' / ')}`)
      assert.match(suggestions.join(), /^"etcdctl member list --endpoints/)
      assert.doesNotMatch(suggestions.join(), /remove|delete/)
      return true
    })
  })
})

describeWithEtcd('members of two clusters among the endpoints', function () {
  this.timeout(60_000)

  it('are refused, and nothing is written to either', async () => {
    const [one, other] = await Promise.all([startEtcd(), startEtcd()])
    try {
      const servers = [...one.servers, ...other.servers]
      const opened = openEtcdStorage({servers, prefix: '/test'}, {wait: () => undefined})
      await assert.rejects(opened, {
        code: 'CONFIG_INVALID',
        message: /^the members belong to different etcd clusters: http.* \/ http/,
      })
      for (const server of servers) {
        const storage = await openEtcdStorage({servers: [server], prefix: '/test'})
        assert.deepEqual((await storage.list('/')).entries, [])
        await storage.close()
      }
    } finally {
      await Promise.all([one.stop(), other.stop()])
    }
  })
})
