import assert from 'node:assert/strict'
import type {Event} from '../../../src/api/core.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {EventReporter, csrReference} from '../../../src/controllers/kernel/events.ts'
import {TrustError} from '../../../src/errors.ts'
import {systemClock} from '../../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {wished} from '../approval/support.ts'

const HAPPENING = {type: 'Warning', reason: 'Tested', message: 'it was tested'} as const

describe('EventReporter', () => {
  let server: TestServer
  let client: ApiClient
  const reporter = () => new EventReporter(client, 'tester', systemClock)
  const about = async (name: string) => csrReference(await wished({name}))
  const eventsOn = async (name: string): Promise<Event[]> => {
    const fieldSelector = `involvedObject.name=${name}`
    return (await client.events.list({namespace: 'default', fieldSelector})).items
  }

  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  after(() => server.stop())

  it('tells of an object without a namespace in the default one', async () => {
    await reporter().report(await about('one'), HAPPENING)
    const [event] = await eventsOn('one')
    assert.deepEqual(event?.involvedObject, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      name: 'one',
      uid: 'uid-of-one',
    })
    const {type, reason, message, source, count} = event
    assert.deepEqual(
      {type, reason, message, source, count},
      {...HAPPENING, source: {component: 'tester'}, count: 1},
    )
  })

  it('tells of the same once, also after a restart', async () => {
    const [first, second] = [reporter(), reporter()]
    const object = await about('two')
    assert.equal(await first.report(object, HAPPENING), true)
    assert.equal(await first.report(object, HAPPENING), true)
    assert.equal(await second.report(object, HAPPENING), true)
    assert.equal((await eventsOn('two')).length, 1)
    await first.report(object, {...HAPPENING, message: 'it was tested again'})
    assert.equal((await eventsOn('two')).length, 2)
  })

  it('takes objects of any name, and cuts long messages', async () => {
    const name = `node-csr-_A.${'b'.repeat(230)}`
    await reporter().report(await about(name), {...HAPPENING, message: 'm'.repeat(5000)})
    assert.equal((await eventsOn(name))[0]?.message?.length, 1024)
  })

  it('fails nobody where an event cannot be written, and tries again', async () => {
    let isBroken = true
    const create = (event: Event) => {
      if (isBroken) return Promise.reject(new TrustError('FORBIDDEN', 'no'))
      return client.events.create(event)
    }
    const events = {...client.events, create}
    const failing = new EventReporter({events}, 'tester', systemClock)
    assert.equal(await failing.report(await about('three'), HAPPENING), false)
    isBroken = false
    assert.equal(await failing.report(await about('three'), HAPPENING), true)
    assert.equal((await eventsOn('three')).length, 1)
  })
})
