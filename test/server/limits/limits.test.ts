import assert from 'node:assert/strict'
import fc from 'fast-check'
import {addressKey} from '../../../src/server/limits/address-key.ts'
import {RequestLimiter} from '../../../src/server/limits/request-limiter.ts'
import type {RequestLimits} from '../../../src/server/limits/request-limiter.ts'
import {SlotPool} from '../../../src/server/limits/slot-pool.ts'
import {TokenBuckets} from '../../../src/server/limits/token-buckets.ts'
import {NOW, TestClock, user} from '../authn/support.ts'

describe('addressKey', () => {
  const keys: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ]
  for (const [address, key] of keys) {
    it(`takes ${address} as ${key}`, () => {
      assert.equal(addressKey(address), key)
    })
  }
})

describe('SlotPool', () => {
  const take = (pool: SlotPool, holder: string, times: number) =>
    Array.from({length: times}, () => pool.take(holder)).filter((slot) => slot !== undefined)

  it('gives one holder no more than its limit', () => {
    assert.equal(take(new SlotPool({total: 100, perHolder: 10}), 'a', 50).length, 10)
  })

  it('gives all together no more than there are', () => {
    const pool = new SlotPool({total: 10, perHolder: 10})
    for (const holder of 'abcdefghijklmnop') take(pool, holder, 3)
    assert.equal(pool.taken, 10)
  })

  it('leaves room for others, however greedy one is', () => {
    const pool = new SlotPool({total: 100, perHolder: 100})
    take(pool, 'greedy', 60)
    take(pool, 'second', 1)
    assert.equal(take(pool, 'greedy', 100).length, 0)
    assert.ok(take(pool, 'honest', 10).length === 10)
  })

  it('forgets holders that hold nothing, and takes a slot back only once', () => {
    const pool = new SlotPool({total: 10, perHolder: 10})
    const slots = take(pool, 'a', 2)
    slots[0]?.()
    slots[0]?.()
    assert.equal(pool.taken, 1)
    slots[1]?.()
    assert.deepEqual([pool.taken, pool.holders], [0, 0])
  })

  it('never counts wrong, whatever is taken and given back', () => {
    const step = fc.record({holder: fc.constantFrom('a', 'b', 'c'), give: fc.boolean()})
    fc.assert(
      fc.property(fc.array(step, {maxLength: 100}), (steps) => {
        const pool = new SlotPool({total: 8, perHolder: 5})
        const held: (() => void)[] = []
        for (const {holder, give} of steps) {
          if (give) held.shift()?.()
          else held.push(...take(pool, holder, 1))
          assert.equal(pool.taken, held.length)
          assert.ok(pool.taken <= 8)
        }
      }),
    )
  })
})

describe('TokenBuckets', () => {
  const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

  it('allows a burst, then so many a second', () => {
    const buckets = new TokenBuckets({perSecond: 2, burst: 3, keys: 10})
    const spent = [0, 0, 0, 0, 0.5, 0.5].map((at) => buckets.spend('a', later(at)))
    assert.deepEqual(spent, [0, 0, 0, 1, 0, 1])
  })

  it('says how long to wait', () => {
    const buckets = new TokenBuckets({perSecond: 0.1, burst: 1, keys: 10})
    assert.equal(buckets.spend('a', NOW), 0)
    assert.equal(buckets.spend('a', NOW), 10)
  })

  it('does not lock anybody out where the clock is set back', () => {
    const buckets = new TokenBuckets({perSecond: 1, burst: 1, keys: 10})
    buckets.spend('a', later(10_000))
    assert.equal(buckets.spend('a', NOW), 1)
    assert.equal(buckets.spend('a', later(1)), 0)
  })

  it('remembers no more keys than it may', () => {
    const buckets = new TokenBuckets({perSecond: 1, burst: 1, keys: 100})
    for (let index = 0; index < 10_000; index += 1) buckets.spend(`k${index}`, NOW)
    assert.equal(buckets.size, 100)
  })
})

describe('RequestLimiter', () => {
  const nobody = user('system:anonymous', 'system:unauthenticated')
  const busy = {code: 429, headers: {'Retry-After': '1'}}
  const limiter = (limits: Partial<RequestLimits> = {}) => {
    const clock = new TestClock()
    return {clock, limits: new RequestLimiter(clock, limits)}
  }
  const from = (who = user('ann'), remoteAddress = '192.0.2.1') => ({user: who, remoteAddress})

  it('bounds the requests of one identity, wherever they come from', () => {
    const {limits} = limiter({inFlightPerIdentity: 2})
    const release = limits.admit(from(), 'request')
    limits.admit(from(undefined, '192.0.2.2'), 'request')
    assert.throws(() => limits.admit(from(undefined, '192.0.2.3'), 'request'), busy)
    limits.admit(from(user('bob')), 'request')
    release()
    limits.admit(from(), 'request')
    assert.equal(limits.inFlight('request'), 3)
  })

  it('counts watches apart from requests', () => {
    const {limits} = limiter({inFlightPerIdentity: 1, watchesPerIdentity: 1})
    limits.admit(from(), 'request')
    limits.admit(from(), 'watch')
    assert.throws(() => limits.admit(from(), 'watch'), busy)
    assert.throws(() => limits.admit(from(), 'request'), busy)
  })

  it('lets masters in where all is taken, up to their own limit', () => {
    const {limits} = limiter({inFlight: 1, inFlightPerIdentity: 2})
    const root = from(user('root', 'system:masters'))
    limits.admit(from(), 'request')
    assert.throws(() => limits.admit(from(user('bob')), 'request'), busy)
    limits.admit(root, 'request')
    limits.admit(root, 'request')
    assert.throws(() => limits.admit(root, 'request'), busy)
  })

  it('does not limit the server’s own controllers', () => {
    const {limits} = limiter({inFlightPerIdentity: 1})
    for (let index = 0; index < 10; index += 1) {
      limits.admit({...from(), inProcess: true}, 'request')
    }
    assert.equal(limits.inFlight('request'), 0)
  })

  it('limits the rate of anonymous callers by address', () => {
    const {clock, limits} = limiter({anonymousBurst: 2, anonymousPerSecond: 1})
    const ask = (address: string) => limits.admit(from(nobody, address), 'request')()
    ask('192.0.2.1')
    ask('::ffff:192.0.2.1')
    assert.throws(() => ask('192.0.2.1'), busy)
    ask('192.0.2.2')
    clock.advance(1000)
    ask('192.0.2.1')
  })

  it('does not let anonymous callers take the slots of others', () => {
    const {limits} = limiter({inFlight: 4, anonymousInFlight: 4, anonymousBurst: 100})
    for (let index = 0; index < 4; index += 1) {
      limits.admit(from(nobody, `192.0.2.${index}`), 'request')
    }
    assert.throws(() => limits.admit(from(nobody, '192.0.2.9'), 'request'), busy)
    limits.admit(from(), 'request')
  })

  it('lets a crowd of machines behind one address find the cluster at once', () => {
    const {limits} = limiter({})
    for (let index = 0; index < 1000; index += 1) {
      limits.admit(from(nobody, '192.0.2.1'), 'request')()
    }
  })

  it('limits guessing more than asking', () => {
    const {limits} = limiter({refusedBurst: 1, refusedPerSecond: 1})
    limits.countRefused('192.0.2.1')
    assert.throws(() => limits.countRefused('192.0.2.1'), busy)
    limits.admit(from(), 'request')
  })
})
