import assert from 'node:assert/strict'
import {once} from 'node:events'
import type {IncomingMessage} from 'node:http'
import {Agent, get} from 'node:https'
import type {Readable} from 'node:stream'
import {toSecret} from '../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../src/bootstrap/token.ts'
import {createBootstrapCertificate} from '../../src/control-plane/bootstrap-credentials/create.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {systemClock} from '../../src/runtime.ts'
import {issueTime, keyRevocation, userRevocation} from '../../src/trust/revocations.ts'
import {startTestServer, type Credentials, type TestServer} from '../helpers/test-server.ts'
import {get1, get2, session2} from './http/support.ts'
import {Api} from './support.ts'

const SYSTEM = '/api/v1/namespaces/kube-system'
const WATCH = '/apis/certificates.k8s.io/v1/certificatesigningrequests?watch=true'
const FAR = 0x7fffffff

/** Until the returned function is called, no timer that is set fires. */
function withoutTimers(): () => void {
  const {setTimeout, setInterval} = globalThis
  const never = () => setTimeout(() => undefined, FAR).unref()
  Object.assign(globalThis, {setTimeout: never, setInterval: never})
  return () => Object.assign(globalThis, {setTimeout, setInterval})
}

interface Revocable {
  credentials?: Credentials
  token?: string
  revoke: () => Promise<{status: number}>
}

describe('a revocation, on a server whose timers never fire', function () {
  // What only a timer would find out hangs here.
  this.timeout(10_000)
  let server: TestServer
  let api: Api
  let restore: () => void
  beforeEach(async () => {
    restore = withoutTimers()
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: {name: 'may-watch'},
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:node-bootstrapper',
      },
      subjects: [
        {apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated'},
      ],
    })
  })
  afterEach(async () => {
    restore()
    await server.stop()
  })

  const textOf = async (stream: Readable): Promise<string> => {
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
    return text
  }

  /** Over both protocols: an open watch, and a connection that waits for its next request. */
  async function connections({credentials, token}: Revocable) {
    const headers = token === undefined ? {} : {authorization: `Bearer ${token}`}
    const {port, ca} = server
    const tls = credentials && {cert: credentials.certificate, key: credentials.key}
    const asked = get({host: '127.0.0.1', port, ca, ...tls, path: WATCH, headers, agent: false})
    const [first] = (await once(asked, 'response')) as [IncomingMessage]
    const session = await session2(server, credentials)
    const second = session.request({':path': WATCH, ...headers})
    const [answer] = (await once(second, 'response')) as [{':status'?: number}]
    assert.deepEqual([first.statusCode, answer[':status']], [200, 200])
    const agent = new Agent({keepAlive: true, maxSockets: 1})
    const options = {headers, agent, ...(credentials && {credentials})}
    const statuses = async () => [
      (await get1(server, '/version', options)).status,
      (await get2(session, '/version', headers)).status,
    ]
    const close = () => {
      agent.destroy()
      session.destroy()
    }
    return {watches: [textOf(first), textOf(second)], statuses, close}
  }

  const kinds: Record<string, () => Promise<Revocable>> = {
    'a certificate in the list of revoked ones': async () => {
      const credentials = await server.credentialsFor('system:node:a', ['system:nodes'])
      const id = keyRevocation(pinOf(parseCertificate(credentials.certificate)))
      const list = `${SYSTEM}/configmaps/trustadm-revoked-certificates`
      return {credentials, revoke: () => api.patch(list, {data: {[id]: '{}'}})}
    },
    'a certificate of a user of whom everything is revoked': async () => {
      const credentials = await server.credentialsFor('system:node:b', ['system:nodes'])
      const {notBefore} = parseCertificate(credentials.certificate)
      const list = `${SYSTEM}/configmaps/trustadm-revoked-certificates`
      const second = 1000
      // It was issued a second after the one, and at the time of the other.
      const earlier = userRevocation('system:node:b', new Date(+issueTime(notBefore) - second))
      const id = userRevocation('system:node:b', issueTime(notBefore))
      assert.equal((await api.patch(list, {data: {[earlier]: '{}'}})).status, 200)
      return {credentials, revoke: () => api.patch(list, {data: {[id]: '{}'}})}
    },
    'a bootstrap credential whose ConfigMap is deleted': async () => {
      const credentials = await createBootstrapCertificate('kube-system', systemClock)
      const name = 'kubelet-bootstrap-kubeconfig'
      const data = {'ca-bundle.crt': credentials.authority}
      await api.post(`${SYSTEM}/configmaps`, {metadata: {name}, data})
      return {credentials, revoke: () => api.delete(`${SYSTEM}/configmaps/${name}`)}
    },
    'a service-account token whose Secret is deleted': async () => {
      await api.post(`${SYSTEM}/serviceaccounts`, {metadata: {name: 'robot'}})
      const secret = await api.post(`${SYSTEM}/secrets`, {metadata: {name: 'robot'}})
      const boundObjectRef = {
        apiVersion: 'v1',
        kind: 'Secret',
        name: 'robot',
        uid: String(secret.body.metadata.uid),
      }
      const spec = {boundObjectRef}
      const {body} = await api.post(`${SYSTEM}/serviceaccounts/robot/token`, {spec})
      const token = String(body.status.token)
      return {token, revoke: () => api.delete(`${SYSTEM}/secrets/robot`)}
    },
    'a bootstrap token that is deleted': async () => {
      const token = 'abcdef.0123456789abcdef'
      const secret = toSecret({
        token: parseToken(token),
        description: '',
        expires: new Date(Date.now() + 3_600_000),
        usages: {signing: true, authentication: true},
        groups: [],
      })
      await api.post(`${SYSTEM}/secrets`, secret)
      return {token, revoke: () => api.delete(`${SYSTEM}/secrets/bootstrap-token-abcdef`)}
    },
  }
  for (const [what, make] of Object.entries(kinds)) {
    it(`ends open watches and refuses requests on open connections: ${what}`, async () => {
      const revocable = await make()
      const open = await connections(revocable)
      try {
        assert.deepEqual(await open.statuses(), [200, 200])
        assert.equal((await revocable.revoke()).status, 200)
        // The write was acknowledged: no request after it is accepted.
        assert.deepEqual(await open.statuses(), [401, 401])
        for (const text of await Promise.all(open.watches)) assert.match(text, /"code":401/)
      } finally {
        open.close()
      }
    })
  }
})
