import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {describeBrought} from '../../../src/control-plane/ca-rotation/brought.ts'
import {
  overrideOf,
  resumed,
  type ResumeOptions,
} from '../../../src/control-plane/ca-rotation/resume.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const NOW = new Date('2026-03-03T00:00:00Z')
const STARTED: Journal = {
  version: 1,
  action: 'start',
  phase: 'Prepare',
  lastInitiation: '2026-02-01T00:00:00.000Z',
  units: [],
  done: [],
  overrides: [],
}

describe('a command that resumes a rotation', () => {
  let fixture: PlaneFixture
  let certificatePem: string
  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
    certificatePem = await readFile(join(fixture.dir, 'pki/ca.crt'), 'utf8')
  })
  after(() => fixture.remove())

  const resume = (changes: Partial<Journal>, options: ResumeOptions = {}) =>
    resumed(fixture.context.plane, {...STARTED, ...changes}, options)
  const refuses = (promise: Promise<unknown>, code = 'CONFLICT') => assert.rejects(promise, {code})

  it('is refused with flags that contradict its start', async () => {
    await refuses(resume({}, {only: ['ca']}))
    await refuses(resume({only: ['ca']}, {only: ['front-proxy-ca']}))
    await refuses(resume({}, {keyAlgorithm: 'RSA-4096'}))
    await refuses(resume({}, {brought: new Map([['ca', {certificatePem, keyPem: ''}]])}))
  })

  it('may repeat the flags of its start', async () => {
    const only = ['ca', 'sa']
    assert.ok(await resume({only, keyAlgorithm: 'RSA-4096'}))
    const options = {only: ['sa', 'ca'], keyAlgorithm: 'RSA-4096'}
    assert.ok(await resume({only, keyAlgorithm: 'RSA-4096'}, options))
  })

  it('needs the CA that was brought along until it is here', async () => {
    const given = new Map([['ca', {certificatePem, keyPem: ''}]])
    const brought = describeBrought(given)
    await refuses(resume({brought}), 'USAGE')
    assert.ok(await resume({brought}, {brought: given}))
    assert.ok(await resume({brought, done: ['create']}))
  })

  it('records another grace until the serving certificate is made, and then refuses it', async () => {
    const completing = {action: 'complete', grace: 1} as const
    assert.equal((await resume(completing, {grace: 2})).grace, 2)
    assert.equal((await resume({...completing, done: ['renew-servers']}, {grace: 1})).grace, 1)
    await refuses(resume({...completing, done: ['renew-servers']}, {grace: 2}))
    await refuses(resume({...completing, running: 'renew-servers'}, {grace: 2}))
  })

  it('records whom it ignores, once', () => {
    const record = overrideOf(STARTED, 'complete', {ignored: ['one'], unseenFor: 7000}, NOW)
    assert.deepEqual(record?.ignored, ['one', 'clients unseen for 7 s'])
    const overrides = [record ?? assert.fail()]
    assert.equal(
      overrideOf({overrides}, 'complete', {ignored: ['one'], unseenFor: 7000}, NOW),
      undefined,
    )
    assert.equal(overrideOf({overrides}, 'complete', {force: true}, NOW)?.ignored, 'everybody')
    assert.equal(overrideOf(STARTED, 'complete', {}, NOW), undefined)
  })
})
