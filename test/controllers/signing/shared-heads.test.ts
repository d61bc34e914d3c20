import assert from 'node:assert/strict'
import {SharedHeads} from '../../../src/controllers/signing/shared-heads.ts'
import type {LogHead} from '../../../src/csr/log-head.ts'
import {fixedClock} from '../../pki/support.ts'

const NAME = 'trustadm.io/issuance-heads'
const hash = (digit: string) => digit.repeat(64)
const head = (chain: string, size: number): LogHead => ({
  chain: hash(chain),
  size,
  hash: hash('f'),
})

describe('the heads that signers share in their Lease', () => {
  let own: LogHead | undefined
  const heads = (server: string) => new SharedHeads({server, own: () => own, clock: fixedClock()})
  beforeEach(() => (own = undefined))

  it('go from one signer to the next', () => {
    own = head('a', 100)
    const saved = heads('one').save()
    const next = heads('two')
    next.load(saved)
    assert.deepEqual(
      next.known.map(({server, size}) => [server, size]),
      [['one', 100]],
    )
    assert.ok(next.isOthers(hash('a')) && !next.isOthers(hash('b')))
    own = head('b', 50)
    next.load(next.save())
    assert.deepEqual(
      next.known.map(({server}) => server),
      ['two', 'one'],
    )
  })

  it('are not those of another signer if this server has shown them', () => {
    own = {...head('a', 100), seal: '5'.repeat(32)} as LogHead
    const saved = heads('one').save()
    const again = heads('one')
    again.load(saved)
    assert.deepEqual([again.known[0]?.seal, again.isOthers(hash('a'))], ['5'.repeat(32), false])
  })

  it('follow a log that grows, and never one that shrinks', () => {
    const one = heads('one')
    for (const [size, shown] of [
      [100, 100],
      [200, 200],
      [150, 200],
    ] as const) {
      own = head('a', size)
      one.load(one.save())
      assert.deepEqual(
        one.known.map((known) => known.size),
        [shown],
      )
    }
  })

  it('stay away from the Lease while there are none', () => {
    assert.deepEqual(heads('one').save(), {})
  })

  it('are at most sixteen, the newest', () => {
    const one = heads('one')
    for (let index = 0; index < 20; index++) {
      own = {...head('a', 1), chain: index.toString(16).padStart(64, '0')}
      one.load(one.save())
    }
    assert.equal(one.known.length, 16)
    assert.equal(one.known[0]?.chain, (19).toString(16).padStart(64, '0'))
  })

  it('keep those of other servers, however often one begins a new log', () => {
    const [one, two] = [heads('one'), heads('two')]
    own = head('b', 7)
    one.load(two.save())
    for (let index = 0; index < 40; index++) {
      own = {...head('a', 1), chain: index.toString(16).padStart(64, '0')}
      one.load(one.save())
    }
    assert.equal(one.known.length, 16)
    assert.equal(one.known.at(-1)?.server, 'two')
    assert.ok(one.isOthers(hash('b')))
  })

  it('are at most sixteen also if each is of another server', () => {
    let saved = {}
    for (let index = 0; index < 20; index++) {
      own = {...head('a', 1), chain: index.toString(16).padStart(64, '0')}
      const one = heads(`s${index}`)
      one.load(saved)
      saved = one.save()
    }
    const last = heads('last')
    last.load(saved)
    assert.deepEqual(
      last.known.map(({server}) => server),
      Array.from({length: 16}, (_, index) => `s${19 - index}`),
    )
  })

  for (const [name, text] of [
    ['no JSON', '{'],
    ['no list', '{"chain":1}'],
    ['too long', JSON.stringify([head('a', 1), 'x'.repeat(40_000)])],
    ['of another form', JSON.stringify([null, 5, {chain: 'a', size: 1, hash: 'b'}])],
  ] as const) {
    it(`are none if the annotation is ${name}`, () => {
      const one = heads('one')
      one.load({[NAME]: text})
      assert.deepEqual(one.known, [])
    })
  }

  for (const size of [-1, 0, 1.5, 2 ** 53, '7', null]) {
    it(`do not end at ${JSON.stringify(size)}`, () => {
      const one = heads('one')
      one.load({[NAME]: JSON.stringify([{...head('a', 1), size}, head('b', 2)])})
      assert.deepEqual(one.known, [head('b', 2)])
    })
  }

  it('have nothing else that somebody wrote there', () => {
    const one = heads('one')
    one.load({[NAME]: JSON.stringify([{...head('a', 1), reason: 'x', server: 'y'.repeat(300)}])})
    assert.deepEqual(one.known, [head('a', 1)])
  })
})
