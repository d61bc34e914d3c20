import assert from 'node:assert/strict'
import type {Secret} from '../../../src/api/core.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {handOver} from '../../../src/control-plane/ca-rotation/hand-over.ts'
import {readJournal, writeJournal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {TrustError} from '../../../src/errors.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, STARTED} from './support.ts'

describe('the end of a rotation of several servers', () => {
  let fixture: PlaneFixture
  let isAway: boolean
  let shared: Secret[]
  /** The journal on the disk when the others were told. */
  let noted: unknown

  beforeEach(async () => {
    fixture = await planeFixture({etcdServers: ['http://127.0.0.1:1']})
    await fixture.provide('certs')
    await writeJournal(fixture.context.plane, STARTED)
    isAway = false
    shared = []
  })
  afterEach(() => fixture.remove())

  const secrets = {
    find: () => Promise.resolve(undefined),
    create: async (secret: Secret) => {
      if (isAway) throw new TrustError('SERVER_UNREACHABLE', 'away')
      noted = (await journal())?.isShown
      shared.push(secret)
    },
  }
  const namespaces = {get: () => Promise.resolve({metadata: {uid: 'cluster'}})}
  const client = {secrets, namespaces, close: () => Promise.resolve()} as unknown as ApiClient
  const journal = () => readJournal(fixture.context.plane)
  const end = (started = STARTED) => {
    const {plane} = fixture.context
    const context = {...contextFor(plane), connect: () => Promise.resolve(client)}
    return handOver(context, started, {isShown: true})
  }

  it('is noted only when the others know it: a run that is killed before is repeated', async () => {
    await end()
    assert.equal(noted, undefined)
    assert.equal(shared.length, 1)
    assert.deepEqual(await journal(), {...STARTED, isShown: true, shared: 1})
  })

  it('is not noted if the others cannot be told', async () => {
    isAway = true
    await end()
    assert.equal((await journal())?.isShown, undefined)
  })

  it('is not noted if another command has begun something else', async () => {
    await end({...STARTED, action: 'complete'})
    assert.equal((await journal())?.isShown, undefined)
  })
})
