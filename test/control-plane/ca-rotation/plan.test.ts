import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {
  writeJournal,
  type Action,
  type Journal,
} from '../../../src/control-plane/ca-rotation/journal.ts'
import {planRotation} from '../../../src/control-plane/ca-rotation/plan.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {ABORTING, contextFor, STARTED} from './support.ts'

const SHOWN: Journal = {...STARTED, isShown: true}

describe('the plan of a rotation whose old CA has expired', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
  })
  afterEach(() => fixture.remove())

  const plan = async (action: Action, journal: Journal, time = '2026-03-03T00:00:00Z') => {
    const {plane} = fixture.context
    await writeJournal(plane, journal)
    const connect = () => Promise.reject<ApiClient>(new Error('nobody is asked'))
    const clock = {now: () => new Date(time)}
    return await planRotation({...contextFor(plane), clock, connect}, action, {})
  }

  it('is to start again, after the start was finished and during an abort', async () => {
    for (const journal of [SHOWN, ABORTING]) {
      const {resumes, steps} = await plan('start', journal)
      const [first, second] = steps.map(({id, state}) => `${id}: ${state}`)
      assert.deepEqual([resumes, first, second], [true, 'create: done', 'sign-everything: to do'])
      await assert.rejects(plan('start', journal, '2026-03-01T00:00:00Z'), {code: 'CONFLICT'})
    }
  })

  it('is not to abort, unless the new CAs are being removed already', async () => {
    for (const journal of [SHOWN, ABORTING])
      await assert.rejects(plan('abort', journal), {
        code: 'CONFLICT',
        message: /the old CA "ca" has expired/,
      })
    const {resumes} = await plan('abort', {...ABORTING, running: 'remove-new'})
    assert.equal(resumes, true)
  })
})
