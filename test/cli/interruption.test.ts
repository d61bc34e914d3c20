import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {stoppedText} from '../../src/cli/interruption.ts'

const MODULE = new URL('../../src/cli/interruption.ts', import.meta.url).href
const SCRIPT = `import {onInterruption} from '${MODULE}'
  onInterruption(() => 'the outer one does not speak')
  onInterruption(() => 'run it again')
  process.stdout.write('ready')
  setInterval(() => undefined, 1000)`

describe('what is said after an interruption', () => {
  it('fits the terminal', () => {
    const text = stoppedText('run "trustadm ca rotate complete" again', {isTTY: true, columns: 30})
    const [first = '', ...rest] = text.split('\n')
    assert.ok(first.endsWith('Stopped: run'), first)
    assert.deepEqual(rest, ['  "trustadm ca rotate complete"', '  again', ''])
  })
})

describe('onInterruption', function () {
  this.timeout(20_000)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    for (const format of ['table', 'json']) {
      it(`says one whole ${format === 'json' ? 'object' : 'line'}, and lets ${signal} end the program`, async () => {
        const args = [
          '--import',
          'tsx',
          '--input-type=module',
          '-e',
          SCRIPT,
          '--',
          '--output',
          format,
        ]
        const child = spawn(process.execPath, args, {stdio: ['ignore', 'pipe', 'pipe']})
        let said = ''
        child.stderr.on('data', (chunk) => (said += String(chunk)))
        const closed = once(child, 'close')
        await once(child.stdout, 'data')
        child.kill(signal)
        assert.deepEqual(await closed, [null, signal])
        if (format === 'table') return assert.equal(said, 'Stopped: run it again\n')
        const error = {code: 'INTERRUPTED', message: 'stopped', hints: ['run it again']}
        assert.deepEqual(JSON.parse(said), {error})
      })
    }
  }
})
