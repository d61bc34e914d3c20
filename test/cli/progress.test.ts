import assert from 'node:assert/strict'
import {stripVTControlCharacters} from 'node:util'
import {createProgress} from '../../src/cli/progress.ts'
import {INIT_PHASES} from '../../src/control-plane/init/init.ts'
import {JOIN_PHASES} from '../../src/node/join/join.ts'

function stream(isTTY: boolean, columns?: number) {
  const written: string[] = []
  const write = (text: string) => written.push(text) > 0
  return {written, stream: {isTTY, columns, write} as unknown as NodeJS.WriteStream}
}
const phase = {
  name: 'certs',
  summary: 'make certificates',
  plan: () => Promise.resolve([]),
  run: () => Promise.resolve(),
}

describe('createProgress', () => {
  it('writes plain lines with the phase where nobody looks', () => {
    const {written, stream: target} = stream(false)
    const progress = createProgress({quiet: false, verbose: false, stream: target})
    progress.begin(phase)
    progress.tell('the CA was made')
    progress.end(phase)
    assert.deepEqual(written, ['[certs] the CA was made\n'])
  })

  it('says nothing with --quiet, not even warnings', () => {
    const {written, stream: target} = stream(false)
    const progress = createProgress({quiet: true, verbose: false, stream: target})
    progress.begin(phase)
    progress.tell('the CA was made')
    progress.warn('odd')
    assert.deepEqual(written, [])
  })

  it('ends with a tick for each phase on a terminal', () => {
    const saved = process.env.CI
    delete process.env.CI
    try {
      const {written, stream: target} = stream(true)
      const progress = createProgress({quiet: false, verbose: false, stream: target})
      progress.begin(phase)
      progress.end(phase)
      assert.match(written.join(''), /✔.*certs/)
    } finally {
      if (saved !== undefined) process.env.CI = saved
    }
  })

  it('has room for the summary of every phase on a usual terminal', () => {
    for (const {summary} of [...Object.values(INIT_PHASES), ...Object.values(JOIN_PHASES)]) {
      assert.ok(summary.length <= 80 - 'bootstrap-token'.length - 5, summary)
    }
  })

  it('names the phase on each line of what is told', () => {
    const {written, stream: target} = stream(false)
    const progress = createProgress({quiet: false, verbose: false, stream: target})
    progress.begin(phase)
    progress.note('one\ntwo')
    assert.deepEqual(written, ['[certs] one\n', '[certs] two\n'])
  })

  it('never draws a line that the terminal would wrap', () => {
    const saved = process.env.CI
    delete process.env.CI
    try {
      const {written, stream: target} = stream(true, 40)
      const progress = createProgress({quiet: false, verbose: false, stream: target})
      progress.begin({...phase, summary: 'make '.repeat(30)})
      progress.end(phase)
      const shown = stripVTControlCharacters(written.join(''))
      for (const line of shown.split(/[\r\n]/)) assert.ok(line.length < 40, line)
      assert.match(shown, /…/)
    } finally {
      if (saved !== undefined) process.env.CI = saved
    }
  })

  it('shows how far a phase is in its own line on a terminal, and its summary at its end', () => {
    const saved = process.env.CI
    delete process.env.CI
    try {
      const {written, stream: target} = stream(true, 40)
      const options = {quiet: false, verbose: false, stream: target, hidesNames: true}
      const progress = createProgress(options)
      progress.begin(phase)
      progress.update(`3 of 10 nodes done, ${'waiting '.repeat(10)}`)
      progress.end(phase)
      const shown = stripVTControlCharacters(written.join(''))
      for (const line of shown.split(/[\r\n]/)) assert.ok(line.length < 40, line)
      assert.match(shown, /3 of 10 nodes done/)
      assert.match(shown, /✔ make certificates\n$/)
      assert.doesNotMatch(shown, /certs/)
    } finally {
      if (saved !== undefined) process.env.CI = saved
    }
  })

  it('does not repeat itself where lines stay', () => {
    const {written, stream: target} = stream(false)
    const progress = createProgress({quiet: false, verbose: false, stream: target})
    progress.begin(phase)
    for (const done of [1, 2, 3]) progress.update(`${done} of 10`)
    progress.end(phase)
    assert.deepEqual(written, ['[certs] 1 of 10\n'])
  })
})
