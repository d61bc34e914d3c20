import assert from 'node:assert/strict'
import {openNodeSession, openRenewalSession} from '../../../src/cli/node/session.ts'
import {clientStore, servingStore} from '../../../src/node/agent/node-home.ts'
import {renewNow} from '../../../src/node/agent/renew-now.ts'
import {runAgent} from '../../../src/node/agent/run-agent.ts'
import {useAgents} from './support.ts'

describe('node renew while node run is running', function () {
  this.timeout(30_000)
  const {dir, home, clock, lines} = useAgents()
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

  it('fails if that one leaves the serving certificate alone', async () => {
    const {certDir} = await home()
    const current = (await clientStore({certDir}).read()) ?? assert.fail()
    const {certificatePem, keyPem} = current
    await servingStore({certDir}).update(certificatePem, keyPem, clock.now())
    await whileRunning({}, () =>
      assert.rejects(renew(), {message: /did not renew the serving certificate/}),
    )
  })
})
