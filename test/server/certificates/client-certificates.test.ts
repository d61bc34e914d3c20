import assert from 'node:assert/strict'
import {createHash, webcrypto} from 'node:crypto'
import type {JsonName} from '@peculiar/x509'
import {OID} from '../../../src/pki/oids.ts'
import {encodePem} from '../../../src/pki/pem.ts'
import {systemClock} from '../../../src/runtime.ts'
import {startTestServer, type Credentials, type TestServer} from '../../helpers/test-server.ts'
import {bundleOf} from '../../helpers/test-trust.ts'
import {
  ANY_USAGE,
  CLIENT_AUTH,
  SERVER_AUTH,
  make,
  makeAuthority,
  type Made,
  type Wish,
} from '../../pki/certificate-builder.ts'
import {HttpApi} from './support.ts'

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const HOUR = 3_600_000
const fromNow = (hours: number) => new Date(systemClock.now().getTime() + hours * HOUR)
const VALID = {notBefore: fromNow(-1), notAfter: fromNow(24)}
const pemOf = ({der}: Made) => encodePem('CERTIFICATE', der)

async function keyOf({keys}: Made): Promise<string> {
  const der = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return encodePem('PRIVATE KEY', Buffer.from(der))
}

/** A leaf with what the client sends beside it. */
const credentials = async (leaf: Made, ...between: Made[]): Promise<Credentials> => ({
  certificate: [leaf, ...between].map(pemOf).join(''),
  key: await keyOf(leaf),
})

/** Cases 06, A, over real TLS connections. */
describe('a client with a certificate', () => {
  let server: TestServer
  let root: Made

  before(async () => {
    root = await makeAuthority('clients', VALID)
    server = await startTestServer({
      controllers: false,
      trust: {bundles: {client: bundleOf(pemOf(root))}},
    })
  })
  after(() => server.stop())

  const leafWith = (wish: Wish = {}) =>
    make({by: root, name: 'CN=client_cn', extendedUsages: [CLIENT_AUTH], ...VALID, ...wish})
  const call = async (shown: Credentials | undefined, headers: Record<string, string> = {}) => {
    const api = new HttpApi(server, shown)
    try {
      return await api.post(REVIEWS, {}, {headers})
    } finally {
      api.close()
    }
  }
  const whoIs = async (shown: Credentials) => {
    const {status, body, text} = await call(shown)
    assert.equal(status, 201, text)
    return body.status.userInfo as Record<string, unknown>
  }
  const assertUnauthorized = async (shown: Credentials) => {
    const {status, body, text} = await call(shown)
    assert.equal(status, 401, text)
    assert.deepEqual(
      [body.kind, body.reason, body.message],
      ['Status', 'Unauthorized', 'Unauthorized'],
    )
  }

  it('is nobody without one', async () => {
    const {status, body} = await call(undefined)
    assert.equal(status, 403)
    assert.match(body.message, /User "system:anonymous" cannot create resource/)
  })

  it('is who its subject names, known by the hash of the certificate', async () => {
    const leaf = await leafWith({name: [{O: ['My Org']}, {CN: ['client_cn']}]})
    assert.deepEqual(await whoIs(await credentials(leaf)), {
      username: 'client_cn',
      groups: ['My Org', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [
          `X509SHA256=${createHash('sha256').update(leaf.der).digest('hex')}`,
        ],
      },
    })
  })

  it('is in a group for each organization, in their order', async () => {
    const leaf = await leafWith({name: [{O: ['b']}, {O: ['a']}, {CN: ['x']}, {O: ['b']}]})
    const {groups} = await whoIs(await credentials(leaf))
    assert.deepEqual(groups, ['b', 'a', 'b', 'system:authenticated'])
  })

  it('is nobody where the subject has no common name', async () => {
    const {status, body} = await call(await credentials(await leafWith({name: 'O=system:masters'})))
    assert.equal(status, 403)
    assert.match(body.message, /User "system:anonymous"/)
  })

  it('has the UID that its subject holds', async () => {
    const leaf = await leafWith({name: [{CN: ['x']}, {[OID.kubernetesUid]: ['u-1']}]})
    assert.equal((await whoIs(await credentials(leaf))).uid, 'u-1')
  })

  const uid = (...values: string[]) => values.map((value) => ({[OID.kubernetesUid]: [value]}))
  const refusedNames: Record<string, JsonName> = {
    'an empty UID': [{CN: ['x']}, ...uid('')],
    'two UIDs': [{CN: ['x']}, ...uid('a', 'b')],
    'the same UID twice': [{CN: ['x']}, ...uid('a', 'a')],
    // The DER of a string of bits, which OpenSSL lets through.
    'a UID that is no text': [{CN: ['x']}, ...uid('#03020061')],
  }
  for (const [what, name] of Object.entries(refusedNames)) {
    it(`is refused with ${what}`, async () => {
      await assertUnauthorized(await credentials(await leafWith({name})))
    })
  }

  for (const [what, extendedUsages] of [
    ['any usage', [ANY_USAGE]],
    ['client and server usage', [SERVER_AUTH, CLIENT_AUTH]],
  ] as const) {
    it(`is believed with ${what}`, async () => {
      const leaf = await leafWith({extendedUsages: [...extendedUsages]})
      assert.equal((await whoIs(await credentials(leaf))).username, 'client_cn')
    })
  }

  it('is believed with no usage at all', async () => {
    const leaf = await make({by: root, name: 'CN=client_cn', ...VALID})
    assert.equal((await whoIs(await credentials(leaf))).username, 'client_cn')
  })

  const refused: Record<string, () => Promise<Made>> = {
    'one that signs itself': () => make({name: 'CN=x', extendedUsages: [CLIENT_AUTH], ...VALID}),
    'one of an unknown CA': async () =>
      make({by: await makeAuthority('other', VALID), extendedUsages: [CLIENT_AUTH], ...VALID}),
    'one of another CA of the same name': async () =>
      make({by: await makeAuthority('clients', VALID), extendedUsages: [CLIENT_AUTH], ...VALID}),
    'one for servers only': () => leafWith({extendedUsages: [SERVER_AUTH]}),
    'one that is not valid yet': () => leafWith({notBefore: fromNow(1)}),
    'one that has expired': () => leafWith({notBefore: fromNow(-2), notAfter: fromNow(-1)}),
  }
  for (const [what, certificate] of Object.entries(refused)) {
    it(`is refused with ${what}`, async () => {
      await assertUnauthorized(await credentials(await certificate()))
    })
  }

  it('is not taken for nobody where its certificate is refused', async () => {
    const shown = await credentials(await leafWith({extendedUsages: [SERVER_AUTH]}))
    const api = new HttpApi(server, shown)
    const answer = await api.get('/version')
    api.close()
    assert.equal(answer.status, 401)
  })

  describe('of an intermediate CA', () => {
    let between: Made
    before(async () => {
      between = await makeAuthority('between', {by: root, ...VALID})
    })

    it('is believed where it sends that CA along', async () => {
      const leaf = await leafWith({by: between})
      assert.equal((await whoIs(await credentials(leaf, between))).username, 'client_cn')
    })

    it('is refused where it does not', async () => {
      await assertUnauthorized(await credentials(await leafWith({by: between})))
    })

    it('is refused where its own has expired', async () => {
      const leaf = await leafWith({by: between, notBefore: fromNow(-2), notAfter: fromNow(-1)})
      await assertUnauthorized(await credentials(leaf, between))
    })

    it('is refused where that CA has expired', async () => {
      const expired = await makeAuthority('expired', {
        by: root,
        notBefore: fromNow(-2),
        notAfter: fromNow(-1),
      })
      await assertUnauthorized(await credentials(await leafWith({by: expired}), expired))
    })
  })

  it('speaks for itself only: there is no name that makes it a front proxy', async () => {
    const leaf = await leafWith({name: 'CN=front-proxy-client'})
    const {body} = await call(await credentials(leaf), {
      'X-Remote-User': 'admin',
      'X-Remote-Group': 'system:masters',
    })
    assert.equal(body.status.userInfo.username, 'front-proxy-client')
    assert.deepEqual(body.status.userInfo.groups, ['system:authenticated'])
  })
})
