import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import type {Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {perform} from '../../../src/control-plane/ca-rotation/perform.ts'
import {STEPS} from '../../../src/control-plane/ca-rotation/steps.ts'
import {TrustError} from '../../../src/errors.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const silent = () => undefined

describe('the last step of a rotation', () => {
  let fixture: PlaneFixture
  before(async () => {
    fixture = await planeFixture()
  })
  after(() => fixture.remove())

  /** The Secrets that it deletes. */
  const deletedBy = async (action: 'complete' | 'abort', error?: Error) => {
    const deleted: unknown[] = []
    const client = {
      secrets: {
        delete: (ref: unknown) => {
          deleted.push(ref)
          return error ? Promise.reject(error) : Promise.resolve()
        },
      },
      close: () => Promise.resolve(),
    } as unknown as ApiClient
    const {plane} = fixture.context
    const connect = () => Promise.resolve(client)
    const journal: Journal = {
      version: 1,
      action,
      lastInitiation: '2026-03-01T00:00:00.000Z',
      units: [],
      done: [],
      overrides: [],
    }
    const step = STEPS[action].at(-1)
    assert.ok(step)
    const context = {plane, clock: systemClock, tell: silent, warn: silent, connect}
    assert.deepEqual(await perform(context, journal, step), [])
    return deleted
  }

  it('deletes the uploaded copy of the old keys, if there is one', async () => {
    const secret = {namespace: 'kube-system', name: 'kubeadm-certs'}
    assert.deepEqual(await deletedBy('complete'), [secret])
    assert.deepEqual(await deletedBy('complete', new TrustError('NOT_FOUND', 'none')), [secret])
    const refused = new TrustError('FORBIDDEN', 'no')
    await assert.rejects(deletedBy('complete', refused), {code: 'FORBIDDEN'})
  })

  it('leaves it after an abort', async () => {
    assert.deepEqual(await deletedBy('abort'), [])
  })
})
