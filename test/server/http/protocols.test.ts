import assert from 'node:assert/strict'
import {webcrypto} from 'node:crypto'
import {Agent} from 'node:https'
import {encodePem} from '../../../src/pki/pem.ts'
import {
  CERT_SIGN,
  CLIENT_AUTH,
  make,
  SIGNATURE_ONLY,
  type Made,
} from '../../pki/certificate-builder.ts'
import {
  ADMIN,
  startTestServer,
  type Credentials,
  type TestServer,
} from '../../helpers/test-server.ts'
import {bundleOf} from '../../helpers/test-trust.ts'
import {until} from '../support.ts'
import {get1, get2, rawConnection, servingMaterial, session2, untilClosed} from './support.ts'

const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const AUTHENTICATED = {method: 'POST', headers: {'content-type': 'application/json'}, body: '{}'}
const DAY = 86_400_000

const userOf = (text: string) => {
  const {status} = JSON.parse(text) as {status: {userInfo: {username: string; groups: string[]}}}
  return status.userInfo
}

async function credentialsOf({der, keys}: Made, ...chain: Made[]): Promise<Credentials> {
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  const certificates = [der, ...chain.map((made) => made.der)]
  return {
    certificate: certificates.map((one) => encodePem('CERTIFICATE', one)).join(''),
    key: encodePem('PRIVATE KEY', Buffer.from(key)),
  }
}

const times = () => ({
  notBefore: new Date(Date.now() - DAY),
  notAfter: new Date(Date.now() + DAY),
})

describe('HTTP/1.1 and HTTP/2 on one port', () => {
  let server: TestServer
  const trustClients = (pem: string) => server.setTrust({bundles: {client: bundleOf(pem)}})
  let ann: Credentials

  before(async () => {
    server = await startTestServer({controllers: false})
    ann = await server.credentialsFor('ann', ['dev'])
  })
  after(() => server.stop())

  it('know a caller by its certificate over HTTP/1.1, and keep its connection', async () => {
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const options = {...AUTHENTICATED, credentials: ann, agent}
    for (let count = 0; count < 3; count++) {
      const {status, text} = await get1(server, REVIEW, options)
      assert.equal(status, 201, text)
      assert.deepEqual(userOf(text).username, 'ann')
      assert.deepEqual(userOf(text).groups, ['dev', 'system:authenticated'])
    }
    const open = Object.values(agent.freeSockets).flat()
    assert.equal(open.length, 1)
    agent.destroy()
  })

  it('know a caller by its certificate over HTTP/2', async () => {
    const session = await session2(server, ann)
    const headers = {':method': 'POST', 'content-type': 'application/json'}
    const answers = await Promise.all(
      Array.from({length: 20}, () => get2(session, REVIEW, headers, '{}')),
    )
    session.close()
    for (const {status, text} of answers)
      assert.deepEqual([status, userOf(text).username], [201, 'ann'])
  })

  it('answer who has no certificate, as anonymous', async () => {
    assert.equal((await get1(server, '/version')).status, 200)
    const session = await session2(server)
    assert.equal((await get2(session, '/version')).status, 200)
    assert.equal((await get2(session, '/api/v1/secrets')).status, 403)
    session.close()
  })

  it('answer 401 to a certificate of an authority that is not known, wherever it goes', async () => {
    const root = await make({
      name: 'CN=elsewhere',
      isAuthority: true,
      keyUsages: CERT_SIGN,
      ...times(),
    })
    const leaf = await make({
      name: 'CN=ann,O=system:masters',
      by: root,
      keyUsages: SIGNATURE_ONLY,
      extendedUsages: [CLIENT_AUTH],
      ...times(),
    })
    const credentials = await credentialsOf(leaf)
    for (const path of ['/version', '/healthz', '/api/v1/secrets']) {
      const {status, text} = await get1(server, path, {credentials})
      assert.equal(status, 401, path)
      assert.equal((JSON.parse(text) as {reason: string}).reason, 'Unauthorized')
    }
  })

  it('follow a chain over an intermediate authority, from a connection that shows the intermediate only', async () => {
    const root = await make({name: 'CN=root', isAuthority: true, keyUsages: CERT_SIGN, ...times()})
    const middle = await make({
      name: 'CN=middle',
      by: root,
      isAuthority: true,
      keyUsages: CERT_SIGN,
      ...times(),
    })
    const leaf = await make({
      name: 'CN=bob',
      by: middle,
      keyUsages: SIGNATURE_ONLY,
      extendedUsages: [CLIENT_AUTH],
      ...times(),
    })
    await trustClients(server.ca + encodePem('CERTIFICATE', root.der))
    const whole = {...AUTHENTICATED, credentials: await credentialsOf(leaf, middle)}
    const lacking = {...AUTHENTICATED, credentials: await credentialsOf(leaf)}
    assert.equal((await get1(server, REVIEW, lacking)).status, 401)
    const {status, text} = await get1(server, REVIEW, whole)
    assert.deepEqual([status, userOf(text).username], [201, 'bob'])
    // What another connection has shown does not count.
    assert.equal((await get1(server, REVIEW, lacking)).status, 401)
    assert.equal((await get1(server, REVIEW, whole)).status, 201)
    await trustClients(server.ca)
  })

  it('believe a withdrawn authority no longer, on connections that are open', async () => {
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const session = await session2(server, ann)
    const options = {...AUTHENTICATED, credentials: ann, agent}
    assert.equal((await get1(server, REVIEW, options)).status, 201)
    assert.equal((await get2(session, '/version')).status, 200)
    const {clientAuthorities: others} = await servingMaterial()
    await trustClients(others)
    assert.equal((await get1(server, REVIEW, options)).status, 401)
    const told = await server
      .clientAs(ADMIN)
      .configMaps.get('kube-system/extension-apiserver-authentication')
    assert.equal(told.data?.['client-ca-file'], others)
    assert.equal((await get2(session, '/version')).status, 401)
    await trustClients(server.ca)
    assert.equal((await get1(server, REVIEW, options)).status, 201)
    agent.destroy()
    session.close()
  })

  it('believe no headers of a front proxy', async () => {
    const trusted = {
      'X-Remote-User': 'admin',
      'X-Remote-Group': 'system:masters',
      'X-Remote-Extra-Scopes': 'all',
    }
    const socket = await rawConnection(server)
    const lines = Object.entries(trusted).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('')}\r\n`,
    )
    const text = await untilClosed(socket)
    assert.match(text, /^HTTP\/1.1 403 /)
    assert.match(text, /User \\"system:anonymous\\" cannot list resource/)
  })

  it('let nobody impersonate who may not', async () => {
    const {status, text} = await get1(server, '/api/v1/secrets', {
      credentials: ann,
      headers: {'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters'},
    })
    assert.equal(status, 403)
    assert.match(text, /cannot impersonate/)
  })

  it('swap their certificate while requests go on, and none fails', async () => {
    const next = await servingMaterial()
    const ca = server.ca + next.clientAuthorities
    const agent = new Agent({keepAlive: true})
    let stop = false
    const codes: number[] = []
    const callers = Array.from({length: 4}, async (_, index) => {
      while (!stop) {
        const options = index % 2 === 0 ? {agent} : {}
        codes.push((await get1({port: server.port, ca}, '/version', options)).status)
      }
    })
    await until(() => codes.length > 10)
    await server.setTrust({serving: next})
    const socket = await rawConnection({port: server.port, ca})
    assert.equal(socket.getPeerCertificate().issuer.CN, 'ca')
    socket.destroy()
    const before = codes.length
    await until(() => codes.length > before + 10)
    stop = true
    await Promise.all(callers)
    agent.destroy()
    assert.deepEqual(new Set(codes), new Set([200]))
  })
})
