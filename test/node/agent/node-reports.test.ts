import assert from 'node:assert/strict'
import {TrustError} from '../../../src/errors.ts'
import type {Duty} from '../../../src/node/agent/duties.ts'
import {NodeReports} from '../../../src/node/agent/node-reports.ts'

const SECOND = 1000
const never = new AbortController().signal

describe('what an agent exchanges with its Node', () => {
  let now: number
  let failure: TrustError
  beforeEach(() => {
    now = new Date('2026-06-01T00:00:00Z').getTime()
    failure = new TrustError('NOT_FOUND', 'there is no such Node')
  })
  const open = (random: () => number) =>
    new NodeReports({
      nodeName: 'one',
      connection: {use: () => Promise.reject(failure)},
      report: () => 'a report',
      clock: {now: () => new Date(now)},
      random,
    })
  /** How many seconds it waits after each of some failures. */
  const waits = async (duty: Duty, times: number) => {
    const found: number[] = []
    for (let time = 0; time < times; time += 1) {
      await assert.rejects(duty.work(never), failure)
      const wait = (duty.nextAt()?.getTime() ?? NaN) - now
      found.push(wait / SECOND)
      now += wait
    }
    return found
  }

  for (const kind of ['namesDuty', 'reportDuty'] as const) {
    describe(kind === 'namesDuty' ? 'its names' : 'its report', () => {
      it('is tried again later after each failure', async () => {
        const expected = [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
        assert.deepEqual(await waits(open(() => 1)[kind], expected.length), expected)
      })

      it('is tried again at different times by different nodes', async () => {
        assert.deepEqual(await waits(open(() => 0)[kind], 3), [1, 2, 4])
      })

      it('is tried again when the server asks for it, but within an hour', async () => {
        failure.facts.retryAfter = 90 * SECOND
        assert.deepEqual(await waits(open(() => 1)[kind], 1), [90])
        failure.facts.retryAfter = 999_999_999 * SECOND
        assert.deepEqual(await waits(open(() => 1)[kind], 1), [3600])
      })
    })
  }
})
