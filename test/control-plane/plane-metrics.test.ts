import assert from 'node:assert/strict'
import type {Issuance} from '../../src/controllers/signing/issuance.ts'
import {LogAlarm} from '../../src/controllers/signing/log-alarm.ts'
import {meterHeads, meteredLog, watchExpirations} from '../../src/control-plane/plane-metrics.ts'
import {renewCertificates} from '../../src/control-plane/renew.ts'
import {systemClock} from '../../src/runtime.ts'
import {MetricsRegistry} from '../../src/server/metrics/registry.ts'
import {Replaceable} from '../../src/trust/live.ts'
import {until} from '../server/support.ts'
import {planeFixture} from './plane-fixture.ts'

const issuance = (decision: Issuance['decision']): Issuance => ({
  decision,
  signer: 'example.com/a',
  request: 'r',
  uid: 'u',
  requester: 'ann',
  subject: 'CN=ann',
  names: {dns: [], ips: [], emails: [], uris: []},
})

describe('the metrics of a control plane', () => {
  it('count what the issuance log took, and what it could not', async () => {
    const metrics = new MetricsRegistry()
    const disk = {isFull: false}
    const append = () =>
      disk.isFull ? Promise.reject(new Error('the disk is full')) : Promise.resolve('head')
    const log = meteredLog({append}, metrics)
    assert.match(metrics.text(), /^trustadm_issuance_log_failures_total 0$/m)
    await log.append(issuance('issued'))
    await log.append(issuance('issued'))
    await log.append(issuance('refused'))
    disk.isFull = true
    await assert.rejects(log.append(issuance('issued')), /the disk is full/)
    assert.match(
      metrics.text(),
      /^trustadm_certificates_issued_total\{signer="example.com\/a"\} 2$/m,
    )
    assert.match(
      metrics.text(),
      /^trustadm_certificates_refused_total\{signer="example.com\/a"\} 1$/m,
    )
    assert.match(metrics.text(), /^trustadm_issuance_log_failures_total 1$/m)
  })

  it('count the lines of the log that were handed in, from zero on', () => {
    const metrics = new MetricsRegistry()
    const alarm = new LogAlarm(() => undefined, 'check', systemClock)
    meterHeads(alarm, metrics)
    const lost = (count: number) =>
      new RegExp(`^trustadm_issuance_log_heads_total\\{result="lost"\\} ${count}$`, 'm')
    assert.match(metrics.text(), lost(0))
    alarm.isLost('the node n', {chain: 'a', size: 1, hash: 'b'})
    assert.match(metrics.text(), lost(1))
  })

  it('show when each certificate and CA expires, and follow a renewal', async () => {
    const fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const {plane} = fixture.context
    const metrics = new MetricsRegistry()
    const trust = new Replaceable(1)
    const errors: unknown[] = []
    const stop = watchExpirations(plane, trust, metrics, {
      clock: systemClock,
      begin: Promise.resolve(),
      onError: (error) => errors.push(error),
    })
    const serial = () =>
      /name="apiserver",kind="certificate",serial="(\w+)"\} \d{10}/.exec(metrics.text())?.[1]
    await until(() => serial() !== undefined)
    assert.match(metrics.text(), /name="front-proxy-ca",kind="ca",serial="\w+"\} \d{10}/)
    const before = serial()
    await renewCertificates(plane, 'apiserver', systemClock)
    await trust.replace(2)
    await until(() => serial() !== before)
    stop()
    await fixture.remove()
    assert.deepEqual(errors, [])
  })
})
