import assert from 'node:assert/strict'
import {addressKey, TokenBuckets} from '../../../src/server/limits/token-buckets.ts'
import {memoryLimits} from '../../../src/server/limits/memory-budget.ts'
import {RequestLimiter} from '../../../src/server/limits/request-limiter.ts'
import type {RequestLimits} from '../../../src/server/limits/request-limiter.ts'
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

  it('gives back one, and no more than a burst', () => {
    const buckets = new TokenBuckets({perSecond: 1, burst: 1, keys: 10})
    assert.equal(buckets.spend('a', NOW), 0)
    buckets.refund('a')
    buckets.refund('a')
    assert.deepEqual([buckets.spend('a', NOW), buckets.spend('a', NOW)], [0, 1])
  })

  it('takes more than there is for what was used already, and waits until that is paid', () => {
    const buckets = new TokenBuckets({perSecond: 1, burst: 5, keys: 10})
    assert.equal(buckets.isSpent('a', NOW), false)
    buckets.charge('a', 15, NOW)
    assert.equal(buckets.isSpent('a', later(9)), true)
    assert.equal(buckets.isSpent('a', later(11)), false)
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
  const {signal} = new AbortController()
  const kept = () => undefined
  const limiter = (limits: Partial<RequestLimits> = {}) => {
    const clock = new TestClock()
    return {clock, limits: new RequestLimiter(clock, {waitMilliseconds: 0, ...limits})}
  }
  const from = (who = user('ann'), remoteAddress = '192.0.2.1') => ({user: who, remoteAddress})
  const node = (name: string) => from(user(`system:node:${name}`, 'system:nodes'))
  const account = (name: string) => from(user(`system:serviceaccount:default:${name}`))
  const token = (id: string) => from(user(`system:bootstrap:${id}`, 'system:bootstrappers'))

  it('bounds the requests of one identity, wherever they come from', async () => {
    const {limits} = limiter({inFlightPerIdentity: 2})
    const release = await limits.admit(from(), signal)
    await limits.admit(from(undefined, '192.0.2.2'), signal)
    assert.throws(() => limits.admit(from(undefined, '192.0.2.3'), signal), busy)
    await limits.admit(from(user('bob')), signal)
    release()
    await limits.admit(from(), signal)
  })

  it('counts watches apart from requests', async () => {
    const {limits} = limiter({inFlightPerIdentity: 1, watchesPerIdentity: 1})
    await limits.admit(from(), signal)
    limits.openWatch(from(), kept)
    assert.throws(() => limits.openWatch(from(), kept), busy)
    assert.throws(() => limits.admit(from(), signal), busy)
  })

  it('lets masters in where all is taken, up to their own limit', async () => {
    const {limits} = limiter({inFlight: 1, inFlightPerIdentity: 2})
    const root = from(user('root', 'system:masters'))
    await limits.admit(from(), signal)
    assert.throws(() => limits.admit(from(user('bob')), signal), busy)
    await limits.admit(root, signal)
    await limits.admit(root, signal)
    assert.throws(() => limits.admit(root, signal), busy)
  })

  it('does not limit the server’s own controllers', async () => {
    const {limits} = limiter({inFlightPerIdentity: 1})
    for (let index = 0; index < 10; index += 1) {
      await limits.admit({...from(), inProcess: true}, signal)
    }
    await limits.admit(from(), signal)
  })

  it('keeps slots for people, nodes and service accounts from the holders of tokens', async () => {
    const {limits} = limiter({inFlight: 80, inFlightPerIdentity: 80})
    for (let index = 0; index < 50; index += 1) await limits.admit(token(`t${index}`), signal)
    assert.throws(() => limits.admit(token('another'), signal), busy)
    for (const honest of [from(), node('a'), account('b')]) {
      for (let index = 0; index < 10; index += 1) await limits.admit(honest, signal)
    }
  })

  it('fits a fleet of thousands of nodes with a few watches each beside the others', () => {
    const {limits} = limiter({...memoryLimits(2 ** 31), watches: 12_000})
    const ended: string[] = []
    for (const name of Array.from({length: 2500}, (_, index) => `n${index}`)) {
      for (let index = 0; index < 4; index += 1)
        limits.openWatch(node(name), () => ended.push(name))
    }
    for (let index = 0; index < 500; index += 1) limits.openWatch(token('t'), kept)
    for (let index = 0; index < 500; index += 1) limits.openWatch(from(), kept)
    for (let index = 0; index < 1000; index += 1) limits.openWatch(account('a'), kept)
    assert.deepEqual(ended, [])
    assert.throws(() => limits.openWatch(token('t'), kept), busy)
  })

  it('gives everybody a watch where five identities have taken all', () => {
    const {limits} = limiter({watches: 10_000, watchesPerIdentity: 2000})
    let ended = 0
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      for (let index = 0; index < 2000; index += 1) limits.openWatch(node(name), () => ended++)
    }
    assert.equal(ended, 0)
    for (let index = 0; index < 100; index += 1) {
      for (const honest of [from(), token('t'), account('s'), node(`honest-${index}`)]) {
        limits.openWatch(honest, () => assert.fail('nobody honest has to give'))
      }
    }
    assert.equal(ended, 400)
    assert.throws(() => limits.openWatch(node('a'), kept), busy)
  })

  it('bounds the memory of bodies, and takes it from who has most', () => {
    const {limits} = limiter({uploadBytes: 100_000, uploadBytesPerIdentity: 100_000})
    const ended: string[] = []
    const greedy = limits.openUpload(node('greedy'), () => ended.push('greedy'))
    assert.ok(greedy.take(70_000))
    const honest = limits.openUpload(node('honest'), () => ended.push('honest'))
    assert.deepEqual(ended, ['greedy'])
    assert.ok(honest.take(10_000))
    assert.equal(greedy.take(1), false)
  })

  it('limits the rate of anonymous callers by address', () => {
    const {clock, limits} = limiter({anonymousBurst: 2, anonymousPerSecond: 1})
    const ask = (address: string) => limits.charge(from(nobody, address))
    ask('192.0.2.1')
    ask('::ffff:192.0.2.1')
    assert.throws(() => ask('192.0.2.1'), busy)
    ask('192.0.2.2')
    clock.advance(1000)
    ask('192.0.2.1')
  })

  it('does not let anonymous callers take the slots of others', async () => {
    const {limits} = limiter({inFlight: 4, anonymousInFlight: 4})
    for (let index = 0; index < 4; index += 1) {
      await limits.admit(from(nobody, `192.0.2.${index}`), signal)
    }
    assert.throws(() => limits.admit(from(nobody, '192.0.2.9'), signal), busy)
    await limits.admit(from(), signal)
  })

  it('lets a crowd of machines behind one address find the cluster at once', async () => {
    const {limits} = limiter({})
    for (let index = 0; index < 1000; index += 1) {
      limits.charge(from(nobody, '192.0.2.1'))
      const release = await limits.admit(from(nobody, '192.0.2.1'), signal)
      release()
    }
  })

  it('limits guessing more than asking', async () => {
    const {limits} = limiter({refusedBurst: 1, refusedPerSecond: 1})
    limits.countRefused('192.0.2.1')
    assert.throws(() => limits.countRefused('192.0.2.1'), busy)
    await limits.admit(from(), signal)
  })
})
