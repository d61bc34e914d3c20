import assert from 'node:assert/strict'
import {connectTo} from '../../src/client/connect.ts'
import {SharedConnections} from '../../src/client/shared-connections.ts'
import {discover} from '../../src/discovery/discover.ts'
import {isVouchedFor} from '../../src/discovery/read-cluster-info.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {
  DAY,
  from,
  issue,
  makeAuthority,
  type TestAuthority,
} from '../client/support/certificates.ts'
import {Cleanup, serveTls} from '../client/support/servers.ts'
import {type FakeCluster, ONCE, signedData, startFakeCluster, TOKEN_TEXT} from './support.ts'

describe('what a server presents to an unverified read', () => {
  let authority: TestAuthority
  before(async () => {
    authority = await makeAuthority('kubernetes')
  })

  type Options = Parameters<typeof issue>[1]
  const presented = async (options?: Options, by = authority) => [
    parseCertificate((await issue(by, options)).certificate).der,
  ]
  const check = (chain: Buffer[], host = '127.0.0.1') =>
    isVouchedFor(chain, {host, authorities: parseBundle(authority.pem), now: new Date(Date.now())})

  it('is proof if a CA of the cluster has signed it for the host', async () => {
    assert.equal(check(await presented()), true)
    assert.equal(check([...(await presented()), parseCertificate(authority.pem).der]), true)
  })

  const refusals: [string, () => Promise<Buffer[]>][] = [
    ['nothing', () => Promise.resolve([])],
    ['something unreadable', () => Promise.resolve([Buffer.from('30030101ff', 'hex')])],
    [
      'a certificate of another CA with the same name',
      async () => presented({}, await makeAuthority('kubernetes')),
    ],
    ['a certificate for another host', () => presented({names: {ips: ['127.0.0.2']}})],
    ['a certificate of a client', () => presented({usage: 'client auth'})],
    ['an expired certificate', () => presented({validity: from(-2 * DAY, -DAY)})],
    ['a certificate that is not valid yet', () => presented({validity: from(DAY, 2 * DAY)})],
    [
      'a good certificate behind an unreadable one',
      async () => [Buffer.from('3000', 'hex'), ...(await presented())],
    ],
  ]
  for (const [name, chain] of refusals) {
    it(`is no proof if it is ${name}`, async () => {
      assert.equal(check(await chain()), false)
    })
  }
})

describe('the connection of an unverified read', () => {
  const cleanup = new Cleanup()
  let cluster: FakeCluster
  let shared: SharedConnections
  beforeEach(async () => {
    cluster = cleanup.add(await startFakeCluster())
    shared = cleanup.add(new SharedConnections())
  })
  afterEach(() => cleanup.run())

  const read = (endpoint = cluster.endpoint) =>
    discover(
      {token: TOKEN_TEXT, endpoints: [endpoint], caCertHashes: [cluster.pin]},
      {...ONCE, connections: shared},
    )

  /** Sends a token, as the request for a certificate does. */
  async function sendToken(): Promise<void> {
    const bearerToken = () => Promise.resolve('secret')
    const client = connectTo(
      {server: cluster.url, ca: cluster.ca, bearerToken},
      {shared, environment: {}, retry: {attempts: 1}},
    )
    try {
      await client.raw('/readyz')
    } finally {
      await client.close()
    }
  }

  it('is used for what follows if the server has proven to be the cluster', async () => {
    await read()
    await sendToken()
    assert.equal(cluster.requests.length, 3)
    assert.equal(cluster.sockets.length, 1)
    assert.equal(cluster.headers[2]?.authorization, 'Bearer secret')
  })

  it('is closed if cluster-info demands another name of the server', async () => {
    cluster.publish(signedData({server: cluster.url, ca: cluster.ca, tlsServerName: 'localhost'}))
    await read()
    assert.equal(cluster.sockets.length, 2)
  })

  it('is not used if the server is another one, which is refused as ever', async () => {
    const impostor = cleanup.add(await startFakeCluster())
    impostor.publish(signedData({server: impostor.url, ca: cluster.ca}))
    await assert.rejects(read(impostor.endpoint), {code: 'SERVER_NOT_TRUSTED'})
    assert.equal(impostor.requests.length, 1)
  })

  it('is opened again only to a server that proves itself', async () => {
    await read()
    await cluster.stop()
    const seen: unknown[] = []
    const other = await issue(await makeAuthority('kubernetes'))
    const taken = (_request: unknown, response: {end: () => void}) => {
      seen.push('a request')
      response.end()
    }
    cleanup.add(await serveTls(other, taken, {port: cluster.port}))
    await assert.rejects(sendToken(), {code: 'SERVER_NOT_TRUSTED'})
    assert.deepEqual(seen, [])
  })
})
