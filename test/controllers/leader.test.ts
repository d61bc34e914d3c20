import assert from 'node:assert/strict'
import {mock} from 'node:test'
import type {ApiClient} from '../../src/client/api-client.ts'
import {Leader, type LeaderTimes, type SharedNotes} from '../../src/controllers/leader.ts'
import {systemClock} from '../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'

const KEY = {namespace: 'trustadm-system', name: 'test-lease'}
const QUICK: LeaderTimes = {lease: 1000, renewal: 300, retry: 20}

describe('leading', () => {
  let server: TestServer
  let client: ApiClient
  let stop: AbortController
  let problems: unknown[]
  /** Stands still unless a test moves it, so that no lease ends because the machine is busy. */
  let now: number

  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  after(() => server.stop())
  beforeEach(() => {
    stop = new AbortController()
    problems = []
    now = 1000
    mock.method(performance, 'now', () => now)
  })
  afterEach(async () => {
    mock.restoreAll()
    stop.abort(new Error('the test is over'))
    if (await client.leases.find(KEY)) await client.leases.delete(KEY)
  })

  const leader = (
    identity: string,
    leases: ApiClient['leases'] = client.leases,
    times = QUICK,
    shared?: SharedNotes,
  ) =>
    new Leader({
      shared,
      leases,
      name: KEY.name,
      identity,
      clock: systemClock,
      times,
      onError: (error) => problems.push(error),
    })
  const holder = async () => (await client.leases.get(KEY)).spec?.holderIdentity
  /** The client, with some of its methods replaced. */
  const replaced = (methods: Partial<ApiClient['leases']>): ApiClient['leases'] =>
    new Proxy(client.leases, {
      get: (target, name) => {
        const own = Reflect.get(methods, name) as unknown
        return own ?? (Reflect.get(target, name) as () => unknown).bind(target)
      },
    })
  /** Looks at the lease, and again when nothing has come for as long as it lasts. */
  const takeOver = async (identity: string, times = QUICK) => {
    let hasLooked = false
    const find = async (...call: Parameters<ApiClient['leases']['find']>) => {
      const found = await client.leases.find(...call)
      if (hasLooked) now += QUICK.lease
      hasLooked = true
      return found
    }
    await leader(identity, replaced({find}), times).acquire(stop.signal)
  }

  it('waits its own time for a leader that is silent, however long its Lease says that it lasts', async () => {
    const spec = {holderIdentity: 'b', leaseDurationSeconds: 2 ** 31 - 1}
    await client.leases.create({metadata: KEY, spec})
    const find = async (...call: Parameters<ApiClient['leases']['find']>) => {
      const found = await client.leases.find(...call)
      now += QUICK.lease / 2
      return found
    }
    await leader('a', replaced({find})).acquire(stop.signal)
    assert.equal(await holder(), 'a')
  })

  it('takes a lease that there is none of, with its name on it', async () => {
    await leader('a').acquire(stop.signal)
    const {spec} = await client.leases.get(KEY)
    assert.equal(spec?.holderIdentity, 'a')
    assert.equal(spec.leaseDurationSeconds, 1)
    assert.match(spec.renewTime ?? '', /\.\d{6}Z$/)
  })

  it('hands notes in the Lease to those who lead later, and tells those who wait', async () => {
    const notes = (own: Record<string, string>) => {
      const read: (Record<string, string> | undefined)[] = []
      return {
        read,
        load: (found?: Record<string, string>) => void read.push(found),
        save: () => own,
      }
    }
    const [first, second] = [notes({one: 'a'}), notes({two: 'b'})]
    const one = leader('a', client.leases, QUICK, first)
    await one.acquire(stop.signal)
    const two = leader('b', client.leases, QUICK, second)
    let hasWaited = false
    const waiting = two.acquire(stop.signal, () => (hasWaited = true))
    await until(() => hasWaited)
    assert.deepEqual(second.read.at(-1), {one: 'a'})
    await one.release()
    await waiting
    assert.deepEqual((await client.leases.get(KEY)).metadata.annotations, {one: 'a', two: 'b'})
  })

  it('waits while another renews', async () => {
    // A renewal is cut short by real time: these times leave it enough on a busy machine.
    const times = {lease: 100_000, renewal: 30_000, retry: 20}
    let [asked, renewed, looks] = [0, 0, 0]
    const renewing = replaced({
      find: (...call) => {
        asked = now
        return client.leases.find(...call)
      },
      update: async (...call) => {
        const updated = await client.leases.update(...call)
        renewed = asked
        return updated
      },
    })
    const looking = replaced({
      find: (...call) => {
        looks += 1
        return client.leases.find(...call)
      },
    })
    const [first, second] = [leader('a', renewing, times), leader('b', looking, times)]
    await first.acquire(stop.signal)
    const kept = first.keep(stop.signal)
    let isSecond = false
    const waiting = second.acquire(stop.signal).then(
      () => (isSecond = true),
      () => undefined,
    )
    for (const end = now + 2 * times.lease; now < end; now += times.renewal / 2) {
      await until(() => renewed === now)
      const looked = looks
      await until(() => looks > looked + 1)
    }
    assert.equal(isSecond, false)
    assert.equal(await holder(), 'a')
    stop.abort(new Error('the test is over'))
    await Promise.all([kept, waiting])
  })

  it('takes over from one that says nothing any more, and counts that', async () => {
    await leader('a').acquire(stop.signal)
    await takeOver('b')
    const {spec} = await client.leases.get(KEY)
    assert.equal(spec?.holderIdentity, 'b')
    assert.equal(spec.leaseTransitions, 1)
  })

  it('looks again when the lease ends, and not a whole retry later', async () => {
    await leader('a').acquire(stop.signal)
    await takeOver('b', {...QUICK, retry: 3_600_000})
    assert.equal(await holder(), 'b')
  })

  it('takes over at once from one that has let go', async () => {
    const first = leader('a')
    await first.acquire(stop.signal)
    await first.release()
    assert.equal(await holder(), undefined)
    await leader('b').acquire(stop.signal)
    assert.equal(await holder(), 'b')
  })

  it('does not let go of what another holds', async () => {
    const first = leader('a')
    await first.acquire(stop.signal)
    await takeOver('b')
    await first.release()
    assert.equal(await holder(), 'b')
  })

  it('leads no longer once another does', async () => {
    const first = leader('a')
    await first.acquire(stop.signal)
    const lease = await client.leases.get(KEY)
    await client.leases.update({...lease, spec: {...lease.spec, holderIdentity: 'b'}})
    await first.keep(stop.signal)
  })

  it('is sure to lead only for as long as it may try to renew: less than others wait', async () => {
    const first = leader('a')
    assert.equal(first.isSure, false)
    await first.acquire(stop.signal)
    now += QUICK.renewal - 1
    assert.equal(first.isSure, true)
    now += 1
    assert.equal(first.isSure, false)
  })

  it('leads no longer where it cannot renew in time, and says why', async () => {
    const update = () => {
      now += QUICK.renewal / 2
      return Promise.reject(new Error('down'))
    }
    const first = leader('a', replaced({update}))
    await first.acquire(stop.signal)
    await first.keep(stop.signal)
    assert.deepEqual(problems.map(String), ['Error: down', 'Error: down'])
  })

  it('leads no longer where a renewal hangs', async () => {
    const update: ApiClient['leases']['update'] = (_lease, {signal} = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          now += QUICK.renewal
          reject(signal.reason as Error)
        })
      })
    const first = leader('a', replaced({update}))
    await first.acquire(stop.signal)
    await first.keep(stop.signal)
  })

  it('leads no longer where a renewal hangs and cannot be cut short', async () => {
    const update: ApiClient['leases']['update'] = (_lease, {signal} = {}) =>
      new Promise(() => {
        signal?.addEventListener('abort', () => (now += QUICK.renewal))
      })
    const first = leader('a', replaced({update}))
    await first.acquire(stop.signal)
    await first.keep(stop.signal)
  })

  it('counts from when it asked for the lease, for the others may have seen it since then', async () => {
    const create: ApiClient['leases']['create'] = async (...call) => {
      const made = await client.leases.create(...call)
      now += QUICK.renewal
      return made
    }
    const update = () => Promise.reject(new Error('a lease that may be taken over was renewed'))
    const first = leader('a', replaced({create, update}))
    await first.acquire(stop.signal)
    await first.keep(stop.signal)
    assert.deepEqual(problems, [])
  })
})
