import assert from 'node:assert/strict'
import type {ClientHttp2Session} from 'node:http2'
import {toSecret} from '../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../src/bootstrap/token.ts'
import {parseCertificate, type Certificate} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {formatName} from '../../src/pki/distinguished-name.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {authorityValidity} from '../../src/pki/lifetimes.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {keyRevocation, serialRevocation} from '../../src/trust/revocations.ts'
import {startTestServer, type Credentials, type TestServer} from '../helpers/test-server.ts'
import {bundleOf} from '../helpers/test-trust.ts'
import {get1, session2} from './http/support.ts'
import {Api, type AnyBody} from './support.ts'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const LIST = '/api/v1/namespaces/kube-system/configmaps/trustadm-revoked-certificates'
const SECRETS = '/api/v1/namespaces/default/secrets'
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const DAY = 86_400_000
const TOKEN = 'abcdef.0123456789abcdef'

interface LastWord {
  type: string
  object: AnyBody
}

describe('a watch that is open', () => {
  let server: TestServer
  let api: Api
  let later = 0
  const sessions: ClientHttp2Session[] = []

  beforeEach(async () => {
    later = 0
    server = await startTestServer({
      controllers: false,
      clock: {now: () => new Date(Date.now() + later)},
    })
    api = new Api(server.handler)
  })
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy()
    await server.stop()
  })

  /** Watches over TLS; `last` is the last event before the server ends the stream. */
  async function watch(
    path: string,
    {
      credentials,
      token,
      headers = {},
    }: {credentials?: Credentials; token?: string; headers?: object},
  ): Promise<{last: Promise<LastWord>; next: () => Promise<string>}> {
    const session = await session2(server, credentials)
    sessions.push(session)
    const stream = session.request({
      ':path': `${path}${path.includes('?') ? '&' : '?'}watch=true`,
      ...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
      ...headers,
    })
    stream.setEncoding('utf8')
    const status = await new Promise((resolve) =>
      stream.on('response', (answer) => resolve(answer[':status'])),
    )
    assert.equal(status, 200)
    let text = ''
    let wake: () => void = () => undefined
    stream.on('data', (chunk: string) => {
      text += chunk
      wake()
    })
    const last = new Promise<LastWord>((resolve, reject) => {
      stream.on('error', reject)
      stream.on('end', () =>
        resolve(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as LastWord),
      )
    })
    const next = async () => {
      while (text === '') await new Promise<void>((resolve) => (wake = resolve))
      return text
    }
    return {last, next}
  }

  const bind = (name: string, role: string, subject: object) =>
    api.post(BINDINGS, {
      metadata: {name},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role},
      subjects: [{apiGroup: 'rbac.authorization.k8s.io', ...subject}],
    })
  const bindGroup = (name: string) => bind(name, 'cluster-admin', {kind: 'Group', name})

  async function makeToken(expires: Date) {
    await bindGroup('system:bootstrappers')
    const usages = {signing: true, authentication: true}
    const secret = toSecret({
      token: parseToken(TOKEN),
      description: '',
      expires,
      usages,
      groups: [],
    })
    assert.equal((await api.post('/api/v1/namespaces/kube-system/secrets', secret)).status, 201)
  }

  const unauthorized = async ({last}: {last: Promise<LastWord>}) => {
    const {type, object} = await last
    assert.deepEqual(
      [type, object.kind, object.code, object.reason],
      ['ERROR', 'Status', 401, 'Unauthorized'],
    )
  }
  const forbidden = async ({last}: {last: Promise<LastWord>}, words: RegExp) => {
    const {type, object} = await last
    assert.deepEqual(
      [type, object.kind, object.code, object.reason],
      ['ERROR', 'Status', 403, 'Forbidden'],
    )
    assert.match(object.message, words)
  }

  it('ends with 401 when its bootstrap token is deleted', async () => {
    await makeToken(new Date(Date.now() + DAY))
    const watching = await watch(CONFIGMAPS, {token: TOKEN})
    await api.delete('/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef')
    await unauthorized(watching)
  })

  it('ends with 401 when its bootstrap token expires', async () => {
    await makeToken(new Date(Date.now() + DAY))
    const watching = await watch(CONFIGMAPS, {token: TOKEN})
    later = DAY + 2000
    await unauthorized(watching)
  })

  it('ends with 401 when its service account is deleted', async () => {
    await bindGroup('system:serviceaccounts')
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await api.post(accounts, {metadata: {name: 'robot'}})
    const {body} = await api.post(`${accounts}/robot/token`, {spec: {}})
    const watching = await watch(CONFIGMAPS, {token: String(body.status.token)})
    await api.delete(`${accounts}/robot`)
    await unauthorized(watching)
  })

  it('ends with 401 when the token of its service account expires', async () => {
    await bindGroup('system:serviceaccounts')
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await api.post(accounts, {metadata: {name: 'robot'}})
    const {body} = await api.post(`${accounts}/robot/token`, {spec: {expirationSeconds: 600}})
    const watching = await watch(CONFIGMAPS, {token: String(body.status.token)})
    later = 662_000
    await unauthorized(watching)
  })

  it('ends with 401 when the CA of its certificate is not trusted any more', async () => {
    const credentials = await server.credentialsFor('root', ['system:masters'])
    const watching = await watch(CONFIGMAPS, {credentials})
    const keys = await generateKeys('ECDSA-P256')
    const validity = authorityValidity(new Date(), DAY)
    const another = await createAuthorityCertificate({commonName: 'another'}, keys, validity)
    await server.setTrust({bundles: {client: bundleOf(another)}})
    await unauthorized(watching)
    assert.equal((await get1(server, CONFIGMAPS, {credentials})).status, 401)
  })

  const revocations: [string, (certificate: Certificate) => string][] = [
    ['key', (certificate) => keyRevocation(pinOf(certificate))],
    ['serial number', ({serial, issuer}) => serialRevocation(serial, formatName(issuer))],
  ]
  for (const [by, idOf] of revocations) {
    it(`ends with 401 when its certificate is revoked by its ${by}, and no other watch does`, async () => {
      const credentials = await server.credentialsFor('root', ['system:masters'])
      const watching = await watch(CONFIGMAPS, {credentials})
      const other = await watch(CONFIGMAPS, {
        credentials: await server.credentialsFor('other', ['system:masters']),
      })
      const data = {
        [idOf(parseCertificate(credentials.certificate))]: 'details that nobody can read',
      }
      assert.equal((await api.patch(LIST, {data})).status, 200)
      await unauthorized(watching)
      assert.equal((await get1(server, CONFIGMAPS, {credentials})).status, 401)
      await api.post(CONFIGMAPS, {metadata: {name: 'new'}})
      assert.match(await other.next(), /"ADDED"/)
    })
  }

  it('goes on when the list of revoked certificates is edited badly', async () => {
    const credentials = await server.credentialsFor('root', ['system:masters'])
    const watching = await watch(CONFIGMAPS, {credentials})
    const data = {nonsense: 'x', 'key.zz': '{}', 'serial..': '', 'key.': 'null'}
    assert.equal((await api.patch(LIST, {data})).status, 200)
    await api.post(CONFIGMAPS, {metadata: {name: 'new'}})
    assert.match(await watching.next(), /"ADDED"/)
    assert.equal((await get1(server, CONFIGMAPS, {credentials})).status, 200)
  })

  it('ends with 401 when its certificate expires', async () => {
    const credentials = await server.credentialsFor('root', ['system:masters'])
    const watching = await watch(CONFIGMAPS, {credentials})
    later = 2 * DAY
    await unauthorized(watching)
  })

  it('ends with 403 when its right is taken away, and no other watch does', async () => {
    await bindGroup('team')
    await bindGroup('others')
    const watching = await watch(CONFIGMAPS, {
      credentials: await server.credentialsFor('ann', ['team']),
    })
    const other = await watch(CONFIGMAPS, {
      credentials: await server.credentialsFor('bob', ['others']),
    })
    await api.delete(`${BINDINGS}/team`)
    await forbidden(watching, /User "ann" cannot watch resource "configmaps"/)
    await api.post(CONFIGMAPS, {metadata: {name: 'new'}})
    assert.match(await other.next(), /"ADDED"/)
  })

  it('ends with 403 when its caller may not act as another any more', async () => {
    await bindGroup('team')
    await bind('actors', 'cluster-admin', {kind: 'User', name: 'actor'})
    const watching = await watch(CONFIGMAPS, {
      credentials: await server.credentialsFor('actor', []),
      headers: {'impersonate-user': 'ann', 'impersonate-group': 'team'},
    })
    await api.delete(`${BINDINGS}/actors`)
    await forbidden(watching, /User "actor" cannot impersonate resource "users"/)
  })

  it('ends with 403 when the pod is gone by which a node may see a secret', async () => {
    await api.post('/api/v1/nodes', {metadata: {name: 'n1'}})
    await api.post('/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}})
    await api.post(SECRETS, {metadata: {name: 'mine'}})
    const pod = await api.post('/api/v1/namespaces/default/pods', {
      metadata: {name: 'p'},
      spec: {
        nodeName: 'n1',
        containers: [{name: 'c', image: 'i'}],
        volumes: [{name: 'v', secret: {secretName: 'mine'}}],
      },
    })
    assert.equal(pod.status, 201, pod.text)
    const watching = await watch(`${SECRETS}?fieldSelector=metadata.name%3Dmine`, {
      credentials: await server.credentialsFor('system:node:n1', ['system:nodes']),
    })
    await api.delete('/api/v1/namespaces/default/pods/p', {gracePeriodSeconds: 0})
    await forbidden(watching, /User "system:node:n1" cannot watch resource "secrets"/)
  })
})
