import assert from 'node:assert/strict'
import {rm} from 'node:fs/promises'
import {openNodeSession, openRenewalSession} from '../../../src/cli/node/session.ts'
import {KUBELET_SERVING} from '../../../src/csr/signers.ts'
import {TrustError} from '../../../src/errors.ts'
import {lookAt} from '../../../src/fs/file-checks.ts'
import {AgentRecord} from '../../../src/node/agent/agent-state.ts'
import {clientStore, servingStore} from '../../../src/node/agent/node-home.ts'
import {renewNow} from '../../../src/node/agent/renew-now.ts'
import {runAgent} from '../../../src/node/agent/run-agent.ts'
import {nodeFile} from '../../../src/node/node-files.ts'
import {nodeLock} from '../../../src/node/node-lock.ts'
import {until} from '../../server/support.ts'
import {useAgents} from './support.ts'

describe('node renew while node run is running', function () {
  this.timeout(30_000)
  const {cluster, dir, home, clock, waiting, lines} = useAgents()
  const log = (line: string) => void lines.push(line)

  /** Works while an agent with these flags runs. */
  async function whileRunning(flags: object, work: () => Promise<void>): Promise<void> {
    const session = await openNodeSession({dir: dir(), ...flags}, {clock, log})
    const stop = new AbortController()
    let isReady: () => void = () => undefined
    const ready = new Promise<void>((resolve) => (isReady = resolve))
    const running = runAgent({...session, tick: 20, onReady: () => isReady()}, stop.signal)
    await Promise.race([ready, running])
    try {
      await work()
    } finally {
      stop.abort(new Error('the test is over'))
      await running
    }
  }
  const renew = async () => renewNow(await openRenewalSession({dir: dir()}, {clock, log}))
  const serial = async () => (await clientStore(await home()).read())?.certificate.serial

  it('lets that one renew', async () => {
    const before = await serial()
    await whileRunning({}, renew)
    assert.notEqual(await serial(), before)
  })

  it('fails if that one does not renew', async () => {
    const before = await serial()
    const gates = ['RotateKubeletClientCertificate=false']
    await whileRunning({'feature-gates': gates}, () =>
      assert.rejects(renew(), {
        code: 'NODE_CERTIFICATE_DUE',
        message: 'the running "trustadm node run" did not renew the client certificate',
      }),
    )
    assert.equal(await serial(), before)
  })

  it('says once which request of that one waits for a person', async () => {
    const lock = nodeLock(dir(), log)
    await lock.hold()
    try {
      const record = await AgentRecord.open(dir(), assert.ifError)
      await record.change((state) => ({...state, serving: {pendingRequest: 'csr-x'}}))
      const renewing = assert.rejects(renew(), {code: 'NODE_CERTIFICATE_DUE'})
      const told = () => lines.filter((line) => line.includes('certificate approve csr-x'))
      await until(() => told().length > 0)
      // As the running process does once it has tried.
      await rm(nodeFile(dir(), 'renewRequest'))
      await renewing
      assert.equal(told().length, 1)
      assert.match(told()[0] ?? '', /^the serving certificate waits for approval: /)
    } finally {
      await lock.release()
    }
  })

  const lockedOut = [
    {code: 'UNAUTHORIZED', message: 'refused'},
    {code: 'SERVER_NOT_TRUSTED', message: 'another CA', systemCode: 'SELF_SIGNED_CERT_IN_CHAIN'},
  ]
  const leave = /^then run "trustadm node leave --dir /
  for (const [error, advice] of [
    ...lockedOut.map((one) => [one, leave] as const),
    [
      {code: 'NODE_CERTIFICATE_EXPIRED', message: 'expired'},
      /^or give "trustadm node run" a --bootstrap-kubeconfig$/,
    ] as const,
  ]) {
    it(`says how to join again after: ${error.message}`, async () => {
      const lock = nodeLock(dir(), log)
      await lock.hold()
      try {
        const record = await AgentRecord.open(dir(), assert.ifError)
        const renewing = renew().catch((thrown: unknown) => thrown)
        await record.change((state) => ({...state, client: {error}}))
        await until(async () => (await lookAt(nodeFile(dir(), 'renewRequest'))) !== undefined)
        await rm(nodeFile(dir(), 'renewRequest'))
        const failure = await renewing
        assert.ok(failure instanceof TrustError)
        assert.match(failure.suggestions.at(-1) ?? '', advice)
        assert.match(failure.suggestions[0] ?? '', advice === leave ? /./ : /^to join again, get/)
      } finally {
        await lock.release()
      }
    })
  }

  /** A node with a serving certificate, whose next one nobody approves. */
  async function withWaitingServing(): Promise<void> {
    const {certDir} = await home()
    const {certificatePem, keyPem} = (await clientStore(await home()).read()) ?? assert.fail()
    await servingStore({dir: dir(), certDir}).update(certificatePem, keyPem, clock.now())
    const {nodes} = cluster().admin
    const node = await nodes.get('one')
    const addresses = [{type: 'Hostname', address: 'one'}]
    await nodes.updateStatus({...node, status: {...node.status, addresses}})
    waiting.add(KUBELET_SERVING)
  }
  const pending = {
    code: 'CERTIFICATE_PENDING',
    message: /^the client certificate was renewed; the serving certificate waits for approval/,
  }

  it('does not wait for a serving certificate that nobody approves: that one goes on', async () => {
    await withWaitingServing()
    const before = await serial()
    await whileRunning({serving: true}, async () => {
      await assert.rejects(renew(), pending)
      const first = await serial()
      assert.notEqual(first, before)
      // Nor does the next one, while that request still waits.
      await assert.rejects(renew(), pending)
      assert.notEqual(await serial(), first)
    })
  })

  it('gives up a serving certificate that nobody approves if no other process runs', async () => {
    await withWaitingServing()
    const before = await serial()
    const session = await openRenewalSession({dir: dir()}, {clock, log})
    await assert.rejects(renewNow(session, 1), pending)
    assert.notEqual(await serial(), before)
  })

  it('fails if that one leaves the serving certificate alone', async () => {
    const {certDir} = await home()
    const current = (await clientStore({dir: dir(), certDir}).read()) ?? assert.fail()
    const {certificatePem, keyPem} = current
    await servingStore({dir: dir(), certDir}).update(certificatePem, keyPem, clock.now())
    await whileRunning({}, () =>
      assert.rejects(renew(), {message: /did not renew the serving certificate/}),
    )
  })
})
