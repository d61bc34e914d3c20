import assert from 'node:assert/strict'
import {onceAMinute} from '../../src/control-plane/once-a-minute.ts'

describe('a line that many failures would log', () => {
  it('is logged once a minute, also after the clock was set back', () => {
    const lines: string[] = []
    let time = 1_000_000
    const log = onceAMinute((line) => lines.push(line), {now: () => new Date(time)})
    for (const at of [0, 1000, 59_999, 60_000, 61_000, -60_000]) {
      time = 1_000_000 + at
      log('away')
    }
    log('another')
    assert.deepEqual(lines, ['away', 'away', 'away', 'another'])
  })

  it('takes no more memory the more lines there are', () => {
    let count = 0
    const log = onceAMinute(() => (count += 1), {now: () => new Date(0)})
    for (let line = 0; line < 3000; line += 1) log(`line ${line}`)
    log('line 2999')
    assert.equal(count, 3000)
  })
})
