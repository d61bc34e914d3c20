import assert from 'node:assert/strict'
import {describeToken} from '../../../src/bootstrap/token-info.ts'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../../src/bootstrap/token.ts'
import {MetricsRegistry} from '../../../src/server/metrics/registry.ts'
import {TokenMetrics} from '../../../src/server/metrics/token-metrics.ts'
import {HOUR, NOW, TestClock} from '../authn/support.ts'

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
