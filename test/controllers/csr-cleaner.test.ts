import assert from 'node:assert/strict'
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {DeleteOptions} from '../../src/client/resource-client.ts'
import {cleanRequests, isDone} from '../../src/controllers/csr-cleaner.ts'
import {TrustError} from '../../src/errors.ts'
import {DAY, HOUR, NOW, testAuthority, testLeaf} from '../pki/support.ts'

const MINUTE = 60_000
const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds).toISOString()
const was = (type: string, age: number): CertificateSigningRequestCondition => ({
  type,
  status: 'True',
  lastUpdateTime: ago(age),
})

interface Row {
  name: string
  age?: number
  conditions?: CertificateSigningRequestCondition[]
  certificate?: 'valid' | 'expired' | 'garbage'
  goes: boolean
}

const rows: Row[] = [
  {name: 'pending for 5 h', age: 5 * HOUR, goes: false},
  {name: 'pending for 24 h', age: DAY, goes: false},
  {name: 'pending for longer', age: DAY + 1, goes: true},
  {name: 'denied 50 min ago', conditions: [was('Denied', 50 * MINUTE)], goes: false},
  {name: 'denied over an hour ago', conditions: [was('Denied', HOUR + 1)], goes: true},
  {
    name: 'failed 50 min ago',
    conditions: [was('Approved', 2 * HOUR), was('Failed', 50 * MINUTE)],
    goes: false,
  },
  {name: 'failed over an hour ago', conditions: [was('Failed', HOUR + 1)], goes: true},
  {
    name: 'approved and issued 50 min ago',
    conditions: [was('Approved', 50 * MINUTE)],
    certificate: 'valid',
    goes: false,
  },
  {
    name: 'approved and issued over an hour ago',
    conditions: [was('Approved', HOUR + 1)],
    certificate: 'valid',
    goes: true,
  },
  {name: 'approved 5 h ago and not issued', conditions: [was('Approved', 5 * HOUR)], goes: false},
  {
    name: 'approved over a day ago and not issued',
    conditions: [was('Approved', DAY + 1)],
    goes: true,
  },
  {
    name: 'issued just now, its certificate expired',
    conditions: [was('Approved', MINUTE)],
    certificate: 'expired',
    goes: true,
  },
  {
    name: 'issued just now, its certificate unreadable',
    conditions: [was('Approved', MINUTE)],
    certificate: 'garbage',
    goes: false,
  },
  {
    name: 'issued over an hour ago, its certificate unreadable',
    conditions: [was('Approved', HOUR + 1)],
    certificate: 'garbage',
    goes: true,
  },
  {
    name: 'denied at no time',
    age: 9 * DAY,
    conditions: [{type: 'Denied', status: 'True', lastUpdateTime: null}],
    goes: false,
  },
  {
    name: 'old, with a condition of another kind',
    age: 9 * DAY,
    conditions: [was('Seen', 9 * DAY)],
    goes: false,
  },
]

describe('cleaning certificate requests', () => {
  const certificates = {valid: '', expired: '', garbage: Buffer.from('garbage').toString('base64')}

  before(async () => {
    const {issuer} = await testAuthority()
    const issue = async (notAfter: number) => {
      const validity = {notBefore: new Date(0), notAfter: new Date(NOW.getTime() + notAfter)}
      return Buffer.from((await testLeaf(issuer, {validity})).pem).toString('base64')
    }
    certificates.valid = await issue(DAY)
    certificates.expired = await issue(-1000)
  })

  const csrOf = ({
    name,
    age = 0,
    conditions = [],
    certificate,
  }: Row): CertificateSigningRequest => ({
    metadata: {name, uid: `uid of ${name}`, resourceVersion: '7', creationTimestamp: ago(age)},
    spec: {request: '', signerName: 'example.com/any'},
    status: {conditions, ...(certificate ? {certificate: certificates[certificate]} : {})},
  })

  for (const row of rows) {
    it(`${row.goes ? 'deletes' : 'keeps'} what was ${row.name}`, () => {
      assert.equal(isDone(csrOf(row), NOW), row.goes)
    })
  }

  const clean = (onDelete: (name: string, options: DeleteOptions) => Promise<void>) => {
    const csrs = {
      list: () => Promise.resolve({items: rows.map(csrOf), metadata: {}}),
      delete: onDelete,
    } as unknown as ApiClient['csrs']
    const reconcile = cleanRequests({csrs}, {csrs}, {now: () => NOW})
    return reconcile('all', new AbortController().signal)
  }

  it('deletes just those, as the very objects it has seen, and comes back in an hour', async () => {
    const deleted: string[] = []
    const result = await clean((name, {uid, resourceVersion}) => {
      assert.deepEqual({uid, resourceVersion}, {uid: `uid of ${name}`, resourceVersion: '7'})
      deleted.push(name)
      return Promise.resolve()
    })
    assert.deepEqual(
      deleted,
      rows.filter(({goes}) => goes).map(({name}) => name),
    )
    assert.deepEqual(result, {requeueAfter: HOUR})
  })

  for (const code of ['NOT_FOUND', 'CONFLICT'] as const) {
    it(`goes on after ${code}: it is not the one it has seen any more`, async () => {
      const result = await clean(() => Promise.reject(new TrustError(code, 'no')))
      assert.deepEqual(result, {requeueAfter: HOUR})
    })
  }

  it('leaves other failures to the work queue', async () => {
    const refusal = new TrustError('FORBIDDEN', 'no')
    await assert.rejects(
      clean(() => Promise.reject(refusal)),
      {code: 'FORBIDDEN'},
    )
  })
})
