import assert from 'node:assert/strict'
import {readJournal, type Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import {reportRotation} from '../../../src/control-plane/ca-rotation/report.ts'
import {withClient} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

describe('the abort of a rotation', function () {
  this.timeout(60_000)
  let fixture: PlaneFixture
  let stop: () => Promise<void>

  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    stop = await serveFixture(fixture)
    // A machine whose kubelet does not report, as one that joined by kubeadm.
    await withClient(contextFor(fixture.context.plane), ({nodes}) =>
      nodes.create({metadata: {name: 'kubelet'}}),
    )
  })
  after(() => stop())

  const act = (action: Action) =>
    rotate(contextFor(fixture.context.plane), action, {wait: false, observer})

  it('ends at once if nobody has followed the start', async () => {
    const {waiting} = await act('start')
    assert.deepEqual(
      waiting.map(({name}) => name),
      ['kubelet'],
    )
    const aborted = await act('abort')
    assert.deepEqual(aborted.waiting, [])
    const {dependents, isSettled} = await reportRotation(contextFor(fixture.context.plane))
    assert.deepEqual([dependents, isSettled], [[], true])
    assert.equal((await readJournal(fixture.context.plane))?.phase, undefined)
  })
})
