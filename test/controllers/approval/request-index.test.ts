import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {RequestIndex} from '../../../src/controllers/approval/request-index.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {CLIENT, SERVING, readable, wished, type Wish} from './support.ts'

type Csr = CertificateSigningRequest

const NEVER = {
  list: () => Promise.reject(new Error('not asked')),
  watch: () => {
    throw new Error('not asked')
  },
}

const withCondition = (csr: Csr, ...types: string[]): Csr => ({
  ...csr,
  status: {conditions: types.map((type) => ({type, status: 'True' as const}))},
})

describe('RequestIndex', () => {
  const index = () => new RequestIndex(NEVER, CLIENT)
  const approvedNames = (requests: RequestIndex) =>
    requests.approvedFor('foo', 'none').map(({name}) => name)

  it('knows open and approved requests by their node', async () => {
    const requests = index()
    const [one, two] = [await wished({name: 'one'}), await wished({name: 'two'})]
    requests.see('one', one)
    requests.see('two', withCondition(two, 'Approved'))
    assert.deepEqual([...requests.openFor('foo')], ['one'])
    assert.deepEqual(requests.approvedFor('foo', 'one'), [{name: 'two', pin: readable(two).pin}])
    assert.deepEqual(requests.approvedFor('foo', 'two'), [])
    assert.deepEqual([...requests.openFor('bar')], [])
  })

  it('knows what this process approved, also when an older state is seen after', async () => {
    const requests = index()
    const csr = await wished({name: 'one'})
    requests.see('one', csr)
    requests.approved(csr)
    requests.see('one', {...csr, metadata: {...csr.metadata, labels: {a: 'b'}}})
    assert.deepEqual(approvedNames(requests), ['one'])
    assert.deepEqual([...requests.openFor('foo')], [])
    assert.equal((await requests.find('one'))?.isApproved, true)
  })

  for (const types of [['Denied'], ['Approved', 'Failed']]) {
    it(`expects no certificate of a request that is ${types.join(' and ')}`, async () => {
      const requests = index()
      const csr = await wished({name: 'one'})
      requests.see('one', csr)
      requests.see('one', withCondition(csr, ...types))
      assert.deepEqual(approvedNames(requests), [])
      assert.deepEqual([...requests.openFor('foo')], [])
    })
  }

  it('forgets what is deleted, and what this process knew of it', async () => {
    const requests = index()
    const csr = await wished({name: 'one'})
    requests.see('one', csr)
    requests.approved(csr)
    requests.see('one', undefined)
    assert.deepEqual(approvedNames(requests), [])
    requests.see('one', {...csr, metadata: {...csr.metadata, uid: 'made-anew'}})
    assert.deepEqual(approvedNames(requests), [])
    assert.deepEqual([...requests.openFor('foo')], ['one'])
  })

  it('does not take an approval for one of another request that was made with its name since', async () => {
    const requests = index()
    const csr = await wished({name: 'one'})
    requests.see('one', csr)
    requests.see('one', {...csr, metadata: {...csr.metadata, uid: 'made-anew'}})
    requests.approved(csr)
    assert.deepEqual(approvedNames(requests), [])
    assert.deepEqual([...requests.openFor('foo')], ['one'])
  })

  it('takes no request of another signer, nor one that cannot be read', async () => {
    const requests = index()
    requests.see('one', await wished({name: 'one', signerName: SERVING}))
    const {metadata, spec} = await wished({name: 'two'})
    requests.see('two', {metadata, spec: {...spec, request: 'bm9uZQ=='}})
    assert.deepEqual([...requests.openFor('foo')], [])
    assert.equal((await requests.find('two'))?.requested, undefined)
  })

  it('tells when the undecided requests for a node are all for one key', async () => {
    const requests = index()
    const [own, other] = [await generateKeys('ECDSA-P256'), await generateKeys('ECDSA-P256')]
    assert.deepEqual(requests.openForOneKey('foo'), [])
    for (const name of ['one', 'two']) requests.see(name, await wished({name, keys: own}))
    assert.deepEqual(requests.openForOneKey('foo'), ['one', 'two'])
    requests.see('three', await wished({name: 'three', keys: other}))
    assert.deepEqual(requests.openForOneKey('foo'), [])
    requests.see('three', undefined)
    assert.deepEqual(requests.openForOneKey('foo'), ['one', 'two'])
  })

  describe('of requests that a token piled up for one name', () => {
    const TOKEN = 'system:bootstrap:abcdef'
    let requests: RequestIndex
    let made: Record<string, Csr>

    /** The later a request was made, the earlier the clock of the server that took it. */
    const make = async (name: string, resourceVersion: string, wish: Wish) => {
      const csr = await wished({name, username: TOKEN, ...wish})
      const creationTimestamp = `2030-01-01T00:00:${59 - Number(resourceVersion)}Z`
      made[name] = {...csr, metadata: {...csr.metadata, resourceVersion, creationTimestamp}}
      requests.see(name, made[name])
    }
    const newerThan = (name: string) => {
      const csr = made[name] ?? assert.fail(name)
      return requests.newerThan(csr, readable(csr))
    }

    beforeEach(async () => {
      requests = index()
      made = {}
      const [own, other] = [await generateKeys('ECDSA-P256'), await generateKeys('ECDSA-P256')]
      await make('first', '8', {keys: own})
      await make('newer', '9', {keys: other})
      await make('newest', '10', {keys: other})
      await make('own', '11', {keys: own})
      await make('of-another', '12', {keys: own, username: 'system:bootstrap:ghijkl'})
      await make('no-kubelet', '13', {
        keys: await generateKeys('ECDSA-P256'),
        usages: ['client auth'],
      })
    })

    it('finds the newest by revision, whatever the clocks of servers say', () => {
      assert.equal(newerThan('first'), 'newest')
      assert.equal(newerThan('newest'), 'own')
      assert.equal(newerThan('own'), undefined)
      assert.equal(newerThan('of-another'), undefined)
    })

    it('takes one for no newer because it was changed later', () => {
      const {newer} = made
      assert.ok(newer)
      const metadata = {...newer.metadata, resourceVersion: '20', labels: {seen: 'yes'}}
      made.newer = {...newer, metadata}
      requests.see('newer', made.newer)
      assert.equal(newerThan('own'), undefined)
      assert.equal(newerThan('newer'), 'own')
    })

    it('finds the next one once the newest is decided or gone', () => {
      requests.see('newest', made.newest && withCondition(made.newest, 'Denied'))
      assert.equal(newerThan('first'), 'newer')
      requests.see('newer', undefined)
      assert.equal(newerThan('first'), undefined)
    })

    it('looks at the newest alone, however many there are', () => {
      const {first} = made
      assert.ok(first)
      for (let count = 0; count < 500; count++)
        requests.see(`more-${count}`, {
          ...first,
          metadata: {name: `more-${count}`, uid: `more-${count}`, resourceVersion: `${20 + count}`},
        })
      requests.newerThan(first, readable(first))
      const {parse} = JSON
      const compare = BigInt
      let reads = 0
      JSON.parse = (...given) => {
        reads++
        return parse(...given) as unknown
      }
      globalThis.BigInt = ((value: string) => {
        reads++
        return compare(value)
      }) as never
      try {
        assert.equal(newerThan('newest'), 'more-499')
      } finally {
        JSON.parse = parse
        globalThis.BigInt = compare
      }
      assert.ok(reads < 10, String(reads))
    })
  })
})
