import assert from 'node:assert/strict'
import type {ConfigMap} from '../../src/api/core.ts'
import {startInformer} from '../../src/client/informer.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'

describe('objects of a server in the same process', () => {
  let server: TestServer
  const stop = new AbortController()
  before(async () => {
    server = await startTestServer({controllers: false})
  })
  after(async () => {
    stop.abort()
    await server.stop()
    assert.deepEqual(server.errors, [])
  })
  const admin = () => server.clientAs(ADMIN)
  const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
    metadata: {name, namespace: 'default'},
    data,
  })

  it('are read once for all informers, which hold no copies and cannot change them', async () => {
    const informers = [admin(), admin()].map(({configMaps}) =>
      startInformer(configMaps, {signal: stop.signal}),
    )
    await Promise.all(informers.map(({synced}) => synced))
    const made = await admin().configMaps.create(configMap('shared', {a: '1'}))
    const key = 'default/shared'
    await until(() => Promise.resolve(informers.every((one) => one.has(key))))
    const [one, other] = informers.map((informer) => informer.get(key))
    assert.equal(one, other)
    assert.deepEqual(one, made)
    assert.throws(() => ((one ?? made).metadata.name = 'changed'), TypeError)
  })

  it('are the same in a first list as in the events after it', async () => {
    const {configMaps} = admin()
    const made = await configMaps.create(configMap('listed', {b: '2'}))
    const informer = startInformer(configMaps, {signal: stop.signal})
    await informer.synced
    assert.deepEqual(informer.get('default/listed'), made)
    const changed = await configMaps.update({...made, data: {b: '3'}})
    await until(() => Promise.resolve(informer.get('default/listed')?.data?.b === '3'))
    assert.deepEqual(informer.get('default/listed'), changed)
  })

  it('are the caller’s own when it gets, lists or writes them', async () => {
    const {configMaps} = admin()
    const sent = configMap('own', {c: '3'})
    const made = await configMaps.create(sent)
    assert.deepEqual(sent, configMap('own', {c: '3'}))
    const {items} = await configMaps.list({
      namespace: 'default',
      fieldSelector: 'metadata.name=own',
    })
    for (const object of [made, await configMaps.get('default/own'), ...items]) {
      assert.equal(object.kind, 'ConfigMap')
      object.metadata.labels = {changed: 'here'}
    }
    assert.equal((await configMaps.get('default/own')).metadata.labels, undefined)
  })

  it('are checked as text would be', async () => {
    const {configMaps} = admin()
    const wrong = {...configMap('wrong'), data: {a: 1}} as unknown as ConfigMap
    await assert.rejects(configMaps.create(wrong), {
      code: 'BAD_REQUEST',
      message: /json: cannot unmarshal number into Go struct field ConfigMap\.data of type string/,
    })
    await assert.rejects(configMaps.create(configMap('Not A Name')), {code: 'INVALID'})
    await assert.rejects(server.clientAs({username: 'nobody', groups: []}).configMaps.list(), {
      code: 'FORBIDDEN',
    })
  })
})
