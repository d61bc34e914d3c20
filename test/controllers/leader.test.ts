import assert from 'node:assert/strict'
import type {ApiClient} from '../../src/client/api-client.ts'
import {Leader, type LeaderTimes} from '../../src/controllers/leader.ts'
import {sleep, systemClock} from '../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const KEY = {namespace: 'kube-system', name: 'test-lease'}
const QUICK: LeaderTimes = {lease: 1000, renewal: 300, retry: 20}

describe('leading', () => {
  let server: TestServer
  let client: ApiClient
  let stop: AbortController
  let problems: unknown[]

  before(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  after(() => server.stop())
  beforeEach(() => {
    stop = new AbortController()
    problems = []
  })
  afterEach(async () => {
    stop.abort(new Error('the test is over'))
    if (await client.leases.find(KEY)) await client.leases.delete(KEY)
  })

  const leader = (identity: string, leases: ApiClient['leases'] = client.leases) =>
    new Leader({
      leases,
      name: KEY.name,
      identity,
      clock: systemClock,
      times: QUICK,
      onError: (error) => problems.push(error),
    })
  const holder = async () => (await client.leases.get(KEY)).spec?.holderIdentity

  it('takes a lease that there is none of, with its name on it', async () => {
    await leader('a').acquire(stop.signal)
    const {spec} = await client.leases.get(KEY)
    assert.equal(spec?.holderIdentity, 'a')
    assert.equal(spec.leaseDurationSeconds, 1)
    assert.match(spec.renewTime ?? '', /\.\d{6}Z$/)
  })

  it('waits while another renews', async () => {
    const [first, second] = [leader('a'), leader('b')]
    await first.acquire(stop.signal)
    const kept = first.keep(stop.signal)
    let isSecond = false
    const waiting = second.acquire(stop.signal).then(
      () => (isSecond = true),
      () => undefined,
    )
    const renewals = new Set<string | undefined>()
    while (renewals.size <= (2 * QUICK.lease) / QUICK.renewal) {
      renewals.add((await client.leases.get(KEY)).spec?.renewTime)
      await sleep(QUICK.retry)
    }
    assert.equal(isSecond, false)
    assert.equal(await holder(), 'a')
    stop.abort(new Error('the test is over'))
    await Promise.all([kept, waiting])
  })

  it('takes over from one that says nothing any more, and counts that', async () => {
    await leader('a').acquire(stop.signal)
    await leader('b').acquire(stop.signal)
    const {spec} = await client.leases.get(KEY)
    assert.equal(spec?.holderIdentity, 'b')
    assert.equal(spec.leaseTransitions, 1)
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
    await leader('b').acquire(stop.signal)
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

  const broken = (
    leases: ApiClient['leases'],
    update: ApiClient['leases']['update'],
  ): ApiClient['leases'] =>
    new Proxy(leases, {
      get: (target, name) => {
        if (name === 'update') return update
        const method = Reflect.get(target, name) as (...args: unknown[]) => unknown
        return method.bind(target)
      },
    })

  it('leads no longer where it cannot renew in time, and says why', async () => {
    const first = leader(
      'a',
      broken(client.leases, () => Promise.reject(new Error('down'))),
    )
    await first.acquire(stop.signal)
    await first.keep(stop.signal)
    assert.match(String(problems[0]), /down/)
  })

  it('leads no longer where a renewal hangs', async () => {
    const first = leader(
      'a',
      broken(
        client.leases,
        (_lease, {signal} = {}) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason as Error))
          }),
      ),
    )
    await first.acquire(stop.signal)
    await first.keep(stop.signal)
  })

  it('counts from when it asked for the lease, for the others may have seen it since then', async () => {
    const {leases} = client
    const create: typeof leases.create = async (...call) => {
      const made = await leases.create(...call)
      await sleep(QUICK.renewal)
      return made
    }
    const update = () => Promise.reject(new Error('a lease that may be taken over was renewed'))
    const slow = new Proxy(broken(leases, update), {
      get: (target, name) =>
        name === 'create' ? create : (Reflect.get(target, name) as (...args: unknown[]) => unknown),
    })
    const first = leader('a', slow)
    await first.acquire(stop.signal)
    await first.keep(stop.signal)
    assert.deepEqual(problems, [])
  })
})
