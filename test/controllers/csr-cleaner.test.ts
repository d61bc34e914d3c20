import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {DeleteOptions} from '../../src/client/resource-client.ts'
import {cleanRequests, isDone} from '../../src/controllers/csr-cleaner.ts'
import {TrustError} from '../../src/errors.ts'
import {DAY, HOUR, NOW, testAuthority, testLeaf} from '../pki/support.ts'
import {CLEANER_CASES, type CleanerCase} from './cleaner-cases.ts'

const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds).toISOString()

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
  }: CleanerCase): CertificateSigningRequest => ({
    metadata: {name, uid: `uid of ${name}`, resourceVersion: '7', creationTimestamp: ago(age)},
    spec: {request: '', signerName: 'example.com/any'},
    status: {
      conditions: conditions.map(({type, age: since}) => ({
        type,
        status: 'True' as const,
        lastUpdateTime: since === null ? null : ago(since),
      })),
      ...(certificate ? {certificate: certificates[certificate]} : {}),
    },
  })

  for (const row of CLEANER_CASES) {
    it(`${row.goes ? 'deletes' : 'keeps'} what was ${row.name}`, () => {
      assert.equal(isDone(csrOf(row), NOW), row.goes)
    })
  }

  const clean = (onDelete: (name: string, options: DeleteOptions) => Promise<void>) => {
    const csrs = {
      list: () => Promise.resolve({items: CLEANER_CASES.map(csrOf), metadata: {}}),
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
      CLEANER_CASES.filter(({goes}) => goes).map(({name}) => name),
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
