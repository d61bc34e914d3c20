import assert from 'node:assert/strict'
import type {Secret} from '../../src/api/core.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import type {DeleteOptions} from '../../src/client/resource-client.ts'
import {cleanToken} from '../../src/controllers/token-cleaner.ts'
import {TrustError, type ErrorCode} from '../../src/errors.ts'
import {HOUR, NOW, foobarSecret} from '../bootstrap/support.ts'

const KEY = 'kube-system/bootstrap-token-foobar'

describe('cleaning tokens', () => {
  let secret: Secret | undefined
  let now: Date
  let deleted: {key: string; uid: string | undefined; resourceVersion: string | undefined}[]
  let refusal: TrustError | undefined

  const tokenUntil = (expiration: string | undefined): Secret => {
    const token = foobarSecret({data: {expiration}})
    Object.assign(token.metadata, {uid: 'u-1', resourceVersion: '5'})
    return token
  }
  const inTime = (milliseconds: number) => new Date(NOW.getTime() + milliseconds).toISOString()

  beforeEach(() => {
    now = NOW
    deleted = []
    refusal = undefined
  })

  const run = () => {
    const secrets = {
      delete: (key: string, {uid, resourceVersion}: DeleteOptions) => {
        deleted.push({key, uid, resourceVersion})
        return refusal ? Promise.reject(refusal) : Promise.resolve()
      },
    }
    const reconcile = cleanToken(
      {find: (key) => Promise.resolve(key === KEY ? secret : undefined)},
      {secrets: secrets as unknown as ApiClient['secrets']},
      {now: () => now},
    )
    return reconcile(KEY, new AbortController().signal)
  }

  it('keeps a token that never expires', async () => {
    secret = tokenUntil(undefined)
    assert.deepEqual(await run(), {})
    assert.deepEqual(deleted, [])
  })

  it('deletes an expired token, as the very object it has seen', async () => {
    secret = tokenUntil(inTime(-HOUR))
    assert.deepEqual(await run(), {})
    assert.deepEqual(deleted, [{key: KEY, uid: 'u-1', resourceVersion: '5'}])
  })

  it('comes back when a live token expires, then deletes it', async () => {
    secret = tokenUntil(inTime(HOUR))
    assert.deepEqual(await run(), {requeueAfter: HOUR})
    now = new Date(NOW.getTime() + HOUR - 1)
    assert.deepEqual(await run(), {requeueAfter: 1})
    assert.deepEqual(deleted, [])
    now = new Date(NOW.getTime() + HOUR)
    assert.deepEqual(await run(), {})
    assert.equal(deleted.length, 1)
  })

  it('takes an expiration that nobody can read for one that has passed', async () => {
    secret = tokenUntil('soon')
    await run()
    assert.equal(deleted.length, 1)
  })

  it('leaves a token alone that is being deleted already', async () => {
    secret = tokenUntil(inTime(-HOUR))
    secret.metadata.deletionTimestamp = NOW.toISOString()
    assert.deepEqual(await run(), {})
    assert.deepEqual(deleted, [])
  })

  it('rests where the token is gone', async () => {
    secret = undefined
    assert.deepEqual(await run(), {})
    assert.deepEqual(deleted, [])
  })

  for (const code of ['NOT_FOUND', 'CONFLICT'] satisfies ErrorCode[]) {
    it(`rests after ${code}: it is not the one it has seen any more`, async () => {
      secret = tokenUntil(inTime(-HOUR))
      refusal = new TrustError(code, 'no')
      assert.deepEqual(await run(), {})
    })
  }

  it('leaves other failures to the work queue', async () => {
    secret = tokenUntil(inTime(-HOUR))
    refusal = new TrustError('SERVER_ERROR', 'no')
    await assert.rejects(run(), {code: 'SERVER_ERROR'})
  })
})
