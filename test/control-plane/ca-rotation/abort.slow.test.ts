import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {readJournal, type Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import {reportRotation} from '../../../src/control-plane/ca-rotation/report.ts'
import {withClient} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {TrustError} from '../../../src/errors.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {DAY} from '../../pki/support.ts'
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
    const {phase, lastAbort} = (await readJournal(fixture.context.plane)) ?? {}
    assert.equal(phase, undefined)
    assert.ok(lastAbort)
  })

  const issuer = async () => {
    const path = join(fixture.dir, 'pki/apiserver.crt')
    return parseCertificate(await readFile(path, 'utf8')).issuer.commonName
  }

  it('leads back from a completion that has not ended the trust in the old CAs', async () => {
    await act('start')
    const failing = new Error('the servers do not follow')
    const failed = {
      ...observer,
      begin: ({id}: {id: string}) => {
        if (id === 'servers-present-new') throw failing
      },
    }
    const ordinary = contextFor(fixture.context.plane)
    const context = {...ordinary, ignored: [...ordinary.ignored, 'kubelet']}
    await assert.rejects(rotate(context, 'complete', {wait: false, observer: failed}), failing)
    assert.equal((await readJournal(fixture.context.plane))?.phase, 'Finalize')
    assert.match(await issuer(), /^kubernetes@/)
    const {journal} = await act('abort')
    assert.deepEqual(
      [journal.phase, journal.action, await issuer()],
      [undefined, 'abort', 'kubernetes'],
    )
    const {items} = await withClient(context, (client) => client.nodes.list())
    assert.equal(items.length, 1)
  })

  it('is refused once all CAs have expired, and the rotation ends without a server that answers', async () => {
    await act('start')
    const late = {
      ...contextFor(fixture.context.plane),
      clock: {now: () => new Date(Date.now() + 40 * 365 * DAY)},
      connect: () => Promise.reject(new TrustError('SERVER_CERTIFICATE_EXPIRED', 'it has expired')),
    }
    const actLate = (action: Action) => rotate(late, action, {wait: false, observer})
    await assert.rejects(actLate('abort'), {code: 'CONFLICT', message: /old CA .* has expired/})
    const {advice} = await reportRotation(late)
    assert.match(advice.join(), /The new CA has expired.*rotate start.*complete.*start/)
    await actLate('start')
    const {journal} = await actLate('complete')
    assert.equal(journal.phase, 'Completed')
    const {isSettled} = await reportRotation(late)
    assert.equal(isSettled, true)
  })
})
