import assert from 'node:assert/strict'
import {createHash, X509Certificate} from 'node:crypto'
import {CSRS, HttpApi, allow, condition, csrObject, useServer} from './support.ts'

const identityOf = ({username, uid, groups, extra}: Record<string, unknown>) => ({
  username,
  uid,
  groups,
  extra,
})

/** Cases 01, D: what the body says of the requester does not count, what authentication says does. */
describe('the requester of a CertificateSigningRequest', () => {
  const {server, api} = useServer()
  const forged = {username: 'bob', uid: '123', groups: ['group1'], extra: {foo: ['bar']}}

  before(async () => {
    for (const user of ['alice', 'bob', 'system:anonymous'])
      await allow(api(), `asks-${user}`, user, {
        verbs: ['create'],
        resources: ['certificatesigningrequests'],
      })
  })

  it('is who asks, with all that is known of them', async () => {
    const as = {user: 'bob', uid: '123', groups: ['group1'], extra: {foo: 'bar'}}
    const {status, body} = await api().post(CSRS, csrObject(), {as})
    assert.equal(status, 201)
    assert.deepEqual(identityOf(body.spec as Record<string, unknown>), {
      username: 'bob',
      uid: '123',
      groups: ['group1', 'system:authenticated'],
      extra: {foo: ['bar']},
    })
  })

  it('is not who the body names', async () => {
    const as = {user: 'alice', uid: '234'}
    const {status, body} = await api().post(CSRS, csrObject(forged), {as})
    assert.equal(status, 201)
    assert.deepEqual(identityOf(body.spec as Record<string, unknown>), {
      username: 'alice',
      uid: '234',
      groups: ['system:authenticated'],
      extra: undefined,
    })
  })

  it('is nobody where nobody has said who they are', async () => {
    const anonymous = new HttpApi(server())
    const {status, body, text} = await anonymous.post(CSRS, csrObject(forged))
    anonymous.close()
    assert.equal(status, 201, text)
    assert.deepEqual(identityOf(body.spec as Record<string, unknown>), {
      username: 'system:anonymous',
      uid: undefined,
      groups: ['system:unauthenticated'],
      extra: undefined,
    })
  })

  it('is told apart by the certificate that was shown', async () => {
    const credentials = await server().credentialsFor('alice', ['team'])
    const alice = new HttpApi(server(), credentials)
    const {status, body} = await alice.post(CSRS, csrObject(forged))
    alice.close()
    assert.equal(status, 201)
    const {raw, publicKey} = new X509Certificate(credentials.certificate)
    const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    const key = hashOf(publicKey.export({type: 'spki', format: 'der'}))
    assert.deepEqual(identityOf(body.spec as Record<string, unknown>), {
      username: 'alice',
      uid: undefined,
      groups: ['team', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [`X509SHA256=${hashOf(raw)}`],
        'trustadm.io/caller-key': [`sha256:${key}`],
      },
    })
  })

  it('does not bring a status along, and keeps the lifetime that it asks for', async () => {
    const object = csrObject(
      {expirationSeconds: 1234},
      {status: {conditions: [condition('Approved')], certificate: 'eA=='}},
    )
    const {body} = await api().post(CSRS, object, {as: {user: 'alice'}})
    assert.deepEqual(body.status, {})
    assert.equal(body.spec.expirationSeconds, 1234)
  })

  it('stays the same when somebody else changes the request', async () => {
    const {metadata, spec} = await api().make(CSRS, csrObject(), {as: {user: 'alice', uid: '234'}})
    const path = `${CSRS}/${metadata.name}`
    for (const endpoint of ['', '/status', '/approval']) {
      const {status, body} = await api().patch(`${path}${endpoint}`, {spec: forged})
      assert.equal(status, 200)
      assert.deepEqual(body.spec, spec)
    }
  })
})
