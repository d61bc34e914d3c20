import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {describeToken} from '../../../src/bootstrap/token-info.ts'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../../src/bootstrap/token.ts'
import {
  CertificateRequestMetrics,
  TokenMetrics,
} from '../../../src/server/metrics/object-metrics.ts'
import {MetricsRegistry} from '../../../src/server/metrics/registry.ts'
import {HOUR, NOW, TestClock} from '../authn/support.ts'

const csr = (signerName: string, ...conditions: string[]): CertificateSigningRequest => ({
  metadata: {},
  spec: {signerName, request: '', usages: []},
  status: {conditions: conditions.map((type) => ({type, status: 'True'}))},
})
const issued = (signer: string): CertificateSigningRequest => ({
  ...csr(signer),
  status: {certificate: 'AA=='},
})

describe('CertificateRequestMetrics', () => {
  const KUBELET = 'kubernetes.io/kubelet-serving'
  let registry: MetricsRegistry
  let metrics: CertificateRequestMetrics
  const lines = () =>
    registry
      .text()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))

  beforeEach(() => {
    registry = new MetricsRegistry()
    metrics = new CertificateRequestMetrics(registry, (name) => name === 'example.com/own')
  })

  it('counts requests by signer and state, as they change and go', () => {
    metrics.set('a', csr(KUBELET))
    metrics.set('b', csr(KUBELET))
    metrics.set('c', csr('example.com/own', 'Denied'))
    assert.deepEqual(lines(), [
      `trustadm_certificate_requests{signer="${KUBELET}",state="pending"} 2`,
      'trustadm_certificate_requests{signer="example.com/own",state="denied"} 1',
    ])
    metrics.set('a', csr(KUBELET, 'Approved'))
    metrics.delete('b')
    metrics.delete('c')
    assert.deepEqual(lines(), [
      `trustadm_certificate_requests{signer="${KUBELET}",state="approved"} 1`,
      `trustadm_certificate_request_decisions_total{signer="${KUBELET}",decision="approved"} 1`,
    ])
  })

  it('counts each decision once, and none that was made before it was there', () => {
    metrics.set('old', issued(KUBELET))
    metrics.set('old', issued(KUBELET))
    metrics.set('a', csr(KUBELET))
    metrics.set('a', csr(KUBELET, 'Approved'))
    metrics.set('a', csr(KUBELET, 'Approved'))
    metrics.set('a', issued(KUBELET))
    metrics.set('b', csr(KUBELET))
    metrics.set('b', csr(KUBELET, 'Approved', 'Failed'))
    assert.deepEqual(
      lines().filter((line) => line.includes('decisions')),
      ['approved', 'issued', 'failed'].map(
        (decision) =>
          `trustadm_certificate_request_decisions_total{signer="${KUBELET}",decision="${decision}"} 1`,
      ),
    )
  })

  it('gives signers that callers invent one label', () => {
    for (let index = 0; index < 100; index++) metrics.set(`r${index}`, csr(`evil.com/${index}`))
    assert.deepEqual(lines(), ['trustadm_certificate_requests{signer="other",state="pending"} 100'])
  })
})

describe('TokenMetrics', () => {
  it('counts tokens by whether they expire, also while nobody changes them', () => {
    const clock = new TestClock()
    const registry = new MetricsRegistry()
    const metrics = new TokenMetrics(registry, clock)
    const secret = (id: string, ttl: number) =>
      toSecret(describeToken(parseToken(`${id}.0123456789abcdef`), {ttl}, NOW))
    const counts = (): Record<string, number> =>
      Object.fromEntries(
        Array.from(
          registry.text().matchAll(/state="(\w+)"\} (\d)/g),
          ([, state = '', count]) => [state, Number(count)] as const,
        ),
      )

    assert.deepEqual(counts(), {expiring: 0, permanent: 0, expired: 0})
    metrics.set('a', secret('aaaaaa', HOUR))
    metrics.set('b', secret('bbbbbb', 2 * HOUR))
    metrics.set('c', secret('cccccc', 0))
    metrics.set('other', {metadata: {}, type: 'Opaque'})
    assert.deepEqual(counts(), {expiring: 2, permanent: 1, expired: 0})
    clock.advance(HOUR)
    assert.deepEqual(counts(), {expiring: 1, permanent: 1, expired: 1})
    metrics.set('c', {...secret('cccccc', 0), data: {}})
    metrics.delete('a')
    assert.deepEqual(counts(), {expiring: 1, permanent: 0, expired: 0})
  })
})
