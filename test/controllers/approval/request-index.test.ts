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
    requests.approved('one')
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
    requests.approved('one')
    requests.see('one', undefined)
    assert.deepEqual(approvedNames(requests), [])
    requests.see('one', {...csr, metadata: {...csr.metadata, uid: 'made-anew'}})
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

  it('finds the newest among requests that a token piled up for one name without reading any again', async () => {
    const requests = index()
    const [own, other] = [await generateKeys('ECDSA-P256'), await generateKeys('ECDSA-P256')]
    const made = async (name: string, second: number, wish: Wish) => {
      const csr = await wished({name, username: 'system:bootstrap:abcdef', ...wish})
      const creationTimestamp = `2030-01-01T00:00:0${second}Z`
      const seen = {...csr, metadata: {...csr.metadata, creationTimestamp}}
      requests.see(name, seen)
      return seen
    }
    const first = await made('first', 1, {keys: own})
    await made('newer', 2, {keys: other})
    await made('newest', 3, {keys: other})
    await made('own', 4, {keys: own})
    await made('of-another', 5, {keys: other, username: 'system:bootstrap:ghijkl'})
    await made('no-kubelet', 6, {keys: other, usages: ['client auth']})

    const requested = readable(first)
    const {parse} = JSON
    let reads = 0
    JSON.parse = (...given) => {
      reads++
      return parse(...given) as unknown
    }
    try {
      assert.equal(requests.newerThan(first, requested), 'newest')
    } finally {
      JSON.parse = parse
    }
    assert.equal(reads, 0)
  })
})
