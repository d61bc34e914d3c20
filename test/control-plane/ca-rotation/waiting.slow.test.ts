import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {parse} from 'yaml'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connectTo} from '../../../src/client/connect.ts'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import {rotationDuties} from '../../../src/control-plane/ca-rotation/duties.ts'
import {readJournal, type Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import {planRotation} from '../../../src/control-plane/ca-rotation/plan.ts'
import {refreshState} from '../../../src/control-plane/ca-rotation/refresh-state.ts'
import {reportRotation} from '../../../src/control-plane/ca-rotation/report.ts'
import {
  withClient,
  type RotationContext,
} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {
  ROTATION_MAP,
  type RotationStatus,
} from '../../../src/control-plane/ca-rotation/status-map.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {serve} from '../../../src/control-plane/serve.ts'
import {readStatus} from '../../../src/control-plane/status.ts'
import {TRUST_REPORT} from '../../../src/node/trust-report.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {createIssuer} from '../../../src/pki/issuer.ts'
import {parsePrivateKey, privateKeyPem} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {testLeaf, validAround} from '../../pki/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, silent} from './support.ts'

describe('a rotation that waits for nodes, while no command runs', function () {
  this.timeout(120_000)
  let fixture: PlaneFixture
  let ended: Promise<void>

  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const {plane} = fixture.context
    await savePlane(plane)
    const options = {clock: systemClock, log: silent}
    ;({ended} = await serve(plane, {...options, ...rotationDuties(plane, options)}))
  })
  after(async () => {
    process.emit('SIGTERM')
    await ended
    await fixture.remove()
  })

  const context = () => contextFor(fixture.context.plane)
  const act = (action: Action, more: Partial<RotationContext> = {}) =>
    rotate({...context(), ...more}, action, {wait: false, observer})
  const withAdmin = <Result>(work: (client: ApiClient) => Promise<Result>) =>
    withClient(context(), work)
  const find = () => withAdmin(({configMaps}) => configMaps.find(ROTATION_MAP))
  const shown = async (): Promise<RotationStatus> =>
    parse((await find())?.data?.status ?? '{}') as RotationStatus
  const phase = async () => (await shown()).credentials.rotation.certificateAuthorities?.phase
  const waitingFor = async () => (await shown()).steps.flatMap((step) => step.waitingFor)

  /** What a node reports that trusts these generations, and has certificates of the last one. */
  async function report(name: string, ...trusts: ('old' | 'new')[]) {
    const {units} = (await readJournal(fixture.context.plane)) ?? assert.fail()
    const find = (id: string) => units.find((one) => one.id === id) ?? assert.fail(id)
    const certificate = (id: string) => ({
      serial: '1',
      issuer: 'CN=x',
      issuerKeyId: find(id)[trusts.at(-1) ?? 'new'].keyId,
      notBefore: '2026-01-01T00:00:00Z',
      notAfter: '2036-01-01T00:00:00Z',
    })
    const text = JSON.stringify({
      trusts: [...new Set(trusts.map((which) => find('ca')[which].pin))],
      kubeletClients: [...new Set(trusts.map((which) => find('kubelet-ca')[which].pin))],
      client: certificate('client-ca'),
    })
    await withAdmin(({nodes}) =>
      nodes.patch(name, {metadata: {annotations: {[TRUST_REPORT]: text}}}, {type: 'merge'}),
    )
  }
  /** As a kubelet that has no agent beside it. */
  async function callAsNode(name: string) {
    const own = async (file: string) => await readFile(join(fixture.dir, file), 'utf8')
    const authority = createIssuer(
      parseCertificate(await own('pki/client-ca.crt')),
      parsePrivateKey(await own('pki/client-ca.key')),
    )
    const {pem: certificate, keys} = await testLeaf(authority, {
      subject: {commonName: `system:node:${name}`, organizations: ['system:nodes']},
      validity: validAround(new Date()),
    })
    const access = await resolveAccess(await loadKubeconfig(join(fixture.dir, 'admin.conf')))
    const clientCertificate = {certificate, key: privateKeyPem(keys.privateKey)}
    const client = connectTo({...access, clientCertificate})
    await client.version()
    await client.close()
  }
  const stillTrusted = async () =>
    (await readStatus(fixture.context.plane, systemClock)).certificates.rotation?.stillTrustedBy

  it('shows in its ConfigMap who has not followed yet, and writes it only if that changes', async () => {
    await withAdmin(async ({nodes}) => {
      for (const name of ['w1', 'w2']) await nodes.create({metadata: {name}})
    })
    await act('start')
    assert.deepEqual(await waitingFor(), ['w1', 'w2'])
    await report('w1', 'old', 'new')
    await eventually(async () => (await waitingFor()).join() === 'w2')
    const {metadata} = (await find()) ?? assert.fail()
    // Nothing has changed since.
    await refreshState(context())
    assert.equal((await find())?.metadata.resourceVersion, metadata.resourceVersion)
    await report('w2', 'old', 'new')
    await eventually(async () => (await waitingFor()).length === 0)
    assert.deepEqual(new Set((await shown()).steps.map(({state}) => state)), new Set(['done']))
    await act('start')
    // A Node that registers after the end of the start, and has not followed.
    await withAdmin(({nodes}) => nodes.create({metadata: {name: 'w3'}}))
    await eventually(async () => (await waitingFor()).join() === 'w3')
    // It turns out that it has joined since then: it is seen with a certificate of the new CA.
    await callAsNode('w3')
    await eventually(async () => (await waitingFor()).length === 0)
    await withAdmin(({nodes}) => nodes.delete('w3'))
  })

  it('is not Completed while a node trusts the old CA, and names it', async () => {
    const {journal, waiting} = await act('complete')
    assert.equal(journal.phase, 'Finalize')
    assert.deepEqual(
      waiting.map(({name}) => name),
      ['w1', 'w2'],
    )
    assert.deepEqual([await phase(), await waitingFor()], ['Finalize', ['w1', 'w2']])
    const {stillTrusting, isSettled, nodes} = await reportRotation(context())
    assert.deepEqual(
      stillTrusting.map(({name, reasons}) => [name, reasons.length]),
      [
        ['w1', 2],
        ['w2', 2],
      ],
    )
    assert.deepEqual([isSettled, nodes], [false, {done: 0, total: 2}])
    assert.deepEqual(await stillTrusted(), ['w1', 'w2'])
  })

  it('begins no other rotation meanwhile, and cannot be aborted any more', async () => {
    const refusal = {code: 'CONFLICT', message: /still trust its old CA: w1, w2$/}
    await assert.rejects(act('start'), refusal)
    await assert.rejects(planRotation(context(), 'start', {}), refusal)
    await assert.rejects(act('abort'), {code: 'CONFLICT'})
  })

  it('is Completed without a command once no node does, but for those that are ignored', async () => {
    await act('complete', {ignored: ['w2']})
    assert.equal(await phase(), 'Finalize')
    await report('w1', 'new')
    await eventually(async () => (await phase()) === 'Completed')
    const {lastCompletion, phase: own} = (await readJournal(fixture.context.plane)) ?? {}
    assert.ok(lastCompletion)
    assert.equal(own, 'Completed')
    // An ignored node is named until it does not trust it any longer.
    const {stillTrusting} = await reportRotation(context())
    assert.deepEqual(
      stillTrusting.map(({name, isWaitedFor}) => [name, isWaitedFor]),
      [['w2', false]],
    )
    assert.deepEqual(await stillTrusted(), ['w2'])
    await report('w2', 'new')
    assert.equal(await stillTrusted(), undefined)
    assert.deepEqual((await reportRotation(context())).stillTrusting, [])
  })

  it('lets the next one begin as soon as nobody is waited for, before that is noted', async () => {
    const remove = (name: string) => withAdmin(({nodes}) => nodes.delete(name))
    await act('start')
    for (const name of ['w1', 'w2']) await report(name, 'old', 'new')
    await act('complete')
    assert.equal((await readJournal(fixture.context.plane))?.phase, 'Finalize')
    for (const name of ['w1', 'w2']) await remove(name)
    const plan = await planRotation(context(), 'start', {only: ['front-proxy-ca']})
    assert.equal(plan.resumes, false)
    const {journal} = await rotate(context(), 'start', {
      wait: false,
      observer,
      only: ['front-proxy-ca'],
    })
    assert.deepEqual([journal.phase, journal.isPartial], ['Prepare', true])
    const {lastCompletion} = journal
    assert.ok(lastCompletion)
    const completed = await act('complete')
    assert.deepEqual(
      [completed.journal.phase, completed.journal.lastCompletion],
      ['Completed', lastCompletion],
    )
  })
})
