import type {IssuanceLog} from '../controllers/signing/issuance.ts'
import type {LogAlarm} from '../controllers/signing/log-alarm.ts'
import {every, type Clock} from '../runtime.ts'
import type {MetricsRegistry} from '../server/metrics/registry.ts'
import type {Live} from '../trust/live.ts'
import type {Plane} from './config/plane.ts'
import {checkExpiration, type ExpirationReport} from './expiration.ts'

type Registry = Pick<MetricsRegistry, 'counter' | 'measured'>

/** The same log, with what is written and what fails counted. */
export function meteredLog(log: IssuanceLog, metrics: Registry): IssuanceLog {
  const issued = metrics.counter({
    name: 'trustadm_certificates_issued_total',
    help: 'Certificates that were signed on request and written to the issuance log, by signer',
    labels: ['signer'],
  })
  const refused = metrics.counter({
    name: 'trustadm_certificates_refused_total',
    help: 'Approved requests that their signer refused, by signer',
    labels: ['signer'],
  })
  const failures = metrics.counter({
    name: 'trustadm_issuance_log_failures_total',
    help: 'Lines that could not be written to the issuance log; their certificates were not published',
  })
  // Rules about an increase need a value before the first failure.
  failures.add([], 0)
  return {
    async append(issuance) {
      const head = await log.append(issuance).catch((error: unknown) => {
        failures.add([])
        throw error
      })
      const counter = issuance.decision === 'issued' ? issued : refused
      counter.add([issuance.signer])
      return head
    },
  }
}

/** Shows what became of the heads of the issuance log that nodes handed in. */
export function meterHeads({counts}: Pick<LogAlarm, 'counts'>, metrics: Registry): void {
  metrics.measured(
    {
      name: 'trustadm_issuance_log_heads_total',
      help: 'Lines of the issuance log that nodes and the Lease of the signers have seen, by whether they are still there',
      labels: ['result'],
    },
    'counter',
    () => Object.entries(counts).map(([result, value]) => ({labels: [result], value})),
  )
}

/** An operator may renew certificates in files that the server does not follow. */
const READ_EVERY = 60_000

const MILLISECONDS = 1000

const samplesOf = ({certificates, certificateAuthorities}: ExpirationReport) =>
  [
    ...certificates.map((one) => ({...one, kind: 'certificate'})),
    ...certificateAuthorities.map((one) => ({...one, kind: 'ca'})),
  ].flatMap(({name, kind, serial, expirationDate}) =>
    expirationDate === null || serial === null
      ? []
      : [{labels: [name, kind, serial], value: Date.parse(expirationDate) / MILLISECONDS}],
  )

/** Shows when the control plane's own certificates and CAs expire, from `begin` on. Returns a function that ends it. */
export function watchExpirations(
  plane: Plane,
  trust: Pick<Live<unknown>, 'subscribe'>,
  metrics: Registry,
  {clock, begin, onError}: {clock: Clock; begin: Promise<void>; onError: (error: unknown) => void},
): () => void {
  let samples: ReturnType<typeof samplesOf> = []
  const read = () => {
    checkExpiration(plane, clock).then((report) => {
      samples = samplesOf(report)
    }, onError)
  }
  metrics.measured(
    {
      name: 'trustadm_certificate_expiration_timestamp_seconds',
      help: 'When the certificates and CAs of the control plane expire, in Unix time',
      labels: ['name', 'kind', 'serial'],
    },
    'gauge',
    () => samples,
  )
  void begin.then(read)
  const stop = every(READ_EVERY, read, onError)
  const leave = trust.subscribe(read)
  return () => {
    leave()
    stop()
  }
}
