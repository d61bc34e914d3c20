import assert from 'node:assert/strict'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {AuditEvent} from '../../../src/server/audit/event.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {TestClock} from '../authn/support.ts'
import {Api} from '../support.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const TOKENS = '/api/v1/namespaces/default/serviceaccounts/robot/token'

describe('the audit log of a caller who has used up its budget', () => {
  let folder: string
  let server: TestServer

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'done-writes-'))
    const audit = {path: join(folder, 'audit.log')}
    // Budgets are filled again by the clock, which stands still.
    server = await startTestServer({controllers: false, audit, clock: new TestClock()})
  })
  after(() => rm(folder, {recursive: true}))

  it('lists what was stored and what was issued, and counts what only asked', async () => {
    const api = new Api(server.handler)
    await api.post('/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'robot'}})
    for (let count = 0; count < 1100; count++) await api.get('/version')

    const named = (id: string) => ({headers: {'audit-id': id}})
    const object = {metadata: {name: 'a'}, data: {a: 'b'}}
    await api.post(`${CONFIG_MAPS}?dryRun=All`, object, named('dry-run'))
    await api.post(CONFIG_MAPS, object, named('created'))
    await api.patch(`${CONFIG_MAPS}/a`, {data: {a: 'b'}}, 'merge', named('unchanged'))
    await api.patch(`${CONFIG_MAPS}/a`, {data: {a: 'c'}}, 'merge', named('changed'))
    const dryRun = {body: {dryRun: ['All']}}
    await api.call('DELETE', `${CONFIG_MAPS}/a`, {...dryRun, ...named('dry-deletion')})
    await api.call('DELETE', `${CONFIG_MAPS}/a`, named('deleted'))
    await api.post(TOKENS, {spec: {}}, named('issued'))
    const review = {spec: {nonResourceAttributes: {path: '/', verb: 'get'}}}
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    await api.post(reviews, review, named('review'))
    await server.stop()

    const lines = (await readFile(join(folder, 'audit-controllers.log'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({user}) => user.username === 'admin')
    const ids = lines.map(({auditID}) => auditID).filter((id) => /^[a-z]+(-[a-z]+)?$/.test(id))
    assert.deepEqual(ids, ['created', 'changed', 'deleted', 'issued'])
    const counted = lines.map(({annotations}) => Number(annotations?.['trustadm.io/requests'] ?? 0))
    assert.equal(
      counted.reduce((sum, one) => sum + one),
      104,
    )
  })
})
