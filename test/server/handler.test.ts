import assert from 'node:assert/strict'
import {mkdir, mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {AuditEvent} from '../../src/server/audit/event.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../helpers/test-server.ts'
import {get1} from './http/support.ts'
import {Api, until} from './support.ts'

const SECRETS = '/api/v1/namespaces/default/secrets'

describe('every request', () => {
  let folder: string
  let server: TestServer
  let api: Api
  const storage = openMemoryStorage()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'handler-'))
    server = await startTestServer({
      storage,
      controllers: false,
      audit: {path: join(folder, 'audit.log')},
    })
    api = new Api(server.handler)
  })
  after(async () => {
    await server.stop()
    await rm(folder, {recursive: true})
  })

  /** The lines about requests that carry this audit id, once they are written. */
  /** Callers in the same process have a file of their own. */
  async function auditOf(id: string, file = 'audit-controllers.log'): Promise<AuditEvent> {
    for (;;) {
      const text = await readFile(join(folder, file), 'utf8').catch(() => '')
      const lines = text.split('\n').filter((line) => line.includes(`"${id}"`))
      const [line] = lines
      if (line !== undefined) {
        assert.equal(lines.length, 1)
        return JSON.parse(line) as AuditEvent
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  it('has an audit id: its own, or one that is made for it', async () => {
    const own = await api.get('/version', {headers: {'audit-id': 'mine-1'}})
    assert.equal(own.headers['Audit-Id'], 'mine-1')
    const made = await api.get('/version', {headers: {'audit-id': 'not "an" id'}})
    assert.match(String(made.headers['Audit-Id']), /^[0-9a-f-]{36}$/)
  })

  it('is noted with who, what and how it ended, and never with what it carried', async () => {
    const stringData = {password: 'hunter2-body'}
    const {status} = await api.post(
      `${SECRETS}?fieldManager=hunter2-query`,
      {metadata: {name: 's'}, stringData},
      {
        headers: {'audit-id': 'allowed', authorization: 'Bearer hunter2-token'},
      },
    )
    assert.equal(status, 201)
    const event = await auditOf('allowed')
    assert.deepEqual(
      [event.kind, event.apiVersion, event.level, event.stage],
      ['Event', 'audit.k8s.io/v1', 'Metadata', 'ResponseComplete'],
    )
    assert.deepEqual(
      [event.user.username, event.verb, event.requestURI, event.responseStatus?.code],
      ['admin', 'create', SECRETS, 201],
    )
    assert.deepEqual(event.objectRef, {
      resource: 'secrets',
      namespace: 'default',
      apiVersion: 'v1',
    })
    assert.equal(event.annotations?.['authorization.k8s.io/decision'], 'allow')
    assert.deepEqual(event.sourceIPs, ['192.0.2.1'])
    assert.equal(
      (await readFile(join(folder, 'audit-controllers.log'), 'utf8')).includes('hunter2'),
      false,
    )
  })

  it('is noted where it is refused, with the reason', async () => {
    const {status} = await api.as('ann').get(`${SECRETS}/s`, {headers: {'audit-id': 'refused'}})
    assert.equal(status, 403)
    const event = await auditOf('refused')
    assert.deepEqual(
      [event.user.username, event.responseStatus, event.objectRef?.name],
      ['ann', {metadata: {}, status: 'Failure', code: 403}, 's'],
    )
    assert.equal(event.annotations?.['authorization.k8s.io/decision'], 'forbid')
    assert.match(
      event.annotations['authorization.k8s.io/reason'] ?? '',
      /User "ann" cannot get resource "secrets"/,
    )
  })

  it('is noted under both names where somebody acts as another', async () => {
    const {status} = await api.get(SECRETS, {
      headers: {'audit-id': 'as-ann', 'Impersonate-User': 'ann', 'Impersonate-Group': 'dev'},
    })
    assert.equal(status, 403)
    const event = await auditOf('as-ann')
    assert.deepEqual(
      [
        event.user.username,
        event.impersonatedUser?.username,
        event.impersonatedUser?.groups?.includes('dev'),
      ],
      ['admin', 'ann', true],
    )
  })

  it('is noted with why its certificate was refused', async () => {
    const other = await startTestServer({controllers: false})
    const credentials = await other.credentialsFor('root', ['system:masters'])
    const headers = {'Audit-Id': 'stranger'}
    assert.equal((await get1(server, '/version', {headers, credentials})).status, 401)
    const event = await auditOf('stranger', 'audit-anonymous.log')
    assert.match(event.annotations?.['trustadm.io/refused'] ?? '', /\w/)
    await other.stop()
  })

  it('is not noted, and readyz says so, while the audit log cannot be written', async () => {
    const path = join(folder, 'missing', 'audit.log')
    const other = await startTestServer({controllers: false, audit: {path}})
    const ask = (at: string) => new Api(other.handler).get(at)
    await until(async () => (await ask('/readyz')).status === 500)
    assert.match((await ask('/readyz/audit-log')).text, /ENOENT/)
    assert.equal((await ask('/livez')).status, 200)
    await mkdir(join(folder, 'missing'))
    assert.equal((await ask('/readyz')).status, 200)
    await other.stop()
  })

  it('is noted where nobody knows the caller, without what it showed', async () => {
    const {status} = await get1(server, '/version', {
      headers: {'Audit-Id': 'nobody', Authorization: 'Bearer hunter2-wrong'},
    })
    assert.equal(status, 401)
    const event = await auditOf('nobody', 'audit-anonymous.log')
    assert.deepEqual(
      [event.user, event.responseStatus?.code, event.requestURI],
      [{}, 401, '/version'],
    )
    assert.deepEqual(event.annotations, {
      'trustadm.io/refused': 'the token is of an unknown kind',
    })
    assert.equal(JSON.stringify(event).includes('hunter2'), false)
  })

  it('is noted once where it is a watch, when that ends', async () => {
    const watch = await api.watch(SECRETS, {headers: {'audit-id': 'watched'}})
    await watch.first(1)
    assert.equal(
      (await readFile(join(folder, 'audit-controllers.log'), 'utf8')).includes('"watched"'),
      false,
    )
    await watch.stop()
    assert.equal((await auditOf('watched')).verb, 'watch')
  })

  it('is counted, in labels that callers cannot invent', async () => {
    await api.get(SECRETS)
    await api.get('/api/v1/namespaces/default/inventions')
    await api.get('/inventions')
    await api.as('ann').get(SECRETS)
    const {text} = await api.get('/metrics')
    const total = (labels: RegExp) =>
      text
        .split('\n')
        .some((line) => line.startsWith('apiserver_request_total{') && labels.test(line))
    assert.ok(total(/code="200".*resource="secrets".*scope="namespace".*verb="LIST"/))
    assert.ok(total(/code="403".*resource="secrets".*verb="LIST"/))
    assert.ok(total(/code="201".*resource="secrets".*verb="POST"/))
    assert.equal(text.includes('inventions'), false)
    assert.match(text, /^apiserver_storage_objects\{resource="secrets"\} 1$/m)
    assert.match(text, new RegExp(`^trustadm_storage_revision ${await storage.revision()}$`, 'm'))
  })

  it('counts an open watch until it ends', async () => {
    const open = async () =>
      /^apiserver_longrunning_requests\{.*"secrets".*\} (\d+)$/m.exec(
        (await api.get('/metrics')).text,
      )?.[1]
    const watch = await api.watch(SECRETS)
    assert.equal(await open(), '1')
    await watch.stop()
    assert.equal(await open(), '0')
  })

  it('that fails inside is answered 500 without a word of why, and its cause is for the log', async () => {
    const failing = openMemoryStorage()
    const broken = await startTestServer({storage: failing, controllers: false})
    failing.create = () => Promise.reject(new Error('disk sector 7 of /dev/secret is gone'))
    const {status, body, text} = await new Api(broken.handler).post(SECRETS, {
      metadata: {name: 'x'},
    })
    assert.deepEqual([status, body.reason, body.code], [500, 'InternalError', 500])
    assert.equal(text.includes('sector'), false)
    assert.equal(broken.errors.length, 1)
    assert.match(
      broken.errors[0] ?? '',
      /^POST \/api\/v1\/namespaces\/default\/secrets: .*sector 7/,
    )
    await broken.stop()
  })

  it('whose caller has gone is no fault of the server', async () => {
    const gone = AbortSignal.abort()
    const {status} = await api.get(`${SECRETS}?resourceVersion=99999999`, {signal: gone})
    assert.equal(status, 503)
    assert.deepEqual(server.errors, [])
  })
})
