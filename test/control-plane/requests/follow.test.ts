import assert from 'node:assert/strict'
import {setTimeout as sleep} from 'node:timers/promises'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {followRequests, type RequestChange} from '../../../src/control-plane/requests/follow.ts'
import type {RequestFilter} from '../../../src/control-plane/requests/find.ts'
import {systemClock} from '../../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {addCondition, makeRequest} from './support.ts'

describe('following requests', () => {
  let server: TestServer
  let admin: ApiClient
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  afterEach(() => server.stop())

  /** Follows until the work is done and as many changes as are wanted have come. */
  async function followed(
    filter: RequestFilter,
    wanted: number,
    work: (seen: () => Promise<void>) => Promise<void>,
  ): Promise<string[]> {
    const changes: RequestChange[] = []
    const stop = new AbortController()
    const until = async (count: number) => {
      while (changes.length < count && !stop.signal.aborted) await sleep(5)
    }
    const following = followRequests(
      admin,
      filter,
      {
        decode: false,
        signal: stop.signal,
        warn: () => undefined,
        onChanges: (more) => void changes.push(...more),
      },
      systemClock,
    )
    await work(() => until(changes.length + 1))
    await until(wanted)
    stop.abort()
    await following
    return changes.map(({change, request}) => `${change} ${request.name} ${request.state}`)
  }

  it('tells what is there, then what comes, changes and goes', async () => {
    await makeRequest(admin, {name: 'a'})
    const told = await followed({}, 4, async (seen) => {
      await seen()
      await makeRequest(admin, {name: 'b'})
      await addCondition(admin, 'a', 'Denied')
      await admin.csrs.delete({name: 'b'})
    })
    assert.deepEqual(told, [
      'added a Pending',
      'added b Pending',
      'changed a Denied',
      'deleted b Pending',
    ])
  })

  it('tells once more of a request that the filter lets go', async () => {
    await makeRequest(admin, {name: 'a'})
    const told = await followed({states: ['Pending']}, 3, async (seen) => {
      await seen()
      await addCondition(admin, 'a', 'Approved')
      await addCondition(admin, 'a', 'Failed')
      await makeRequest(admin, {name: 'b'})
    })
    assert.deepEqual(told, ['added a Pending', 'changed a Approved', 'added b Pending'])
  })

  it('fails at once where the caller may not', async () => {
    const nobody = server.clientAs({username: 'nobody', groups: ['system:authenticated']})
    const options = {
      decode: false,
      signal: new AbortController().signal,
      warn: () => undefined,
      onChanges: () => undefined,
    }
    await assert.rejects(followRequests(nobody, {}, options, systemClock), {code: 'FORBIDDEN'})
  })
})
