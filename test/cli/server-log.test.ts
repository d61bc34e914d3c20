import assert from 'node:assert/strict'
import {PassThrough} from 'node:stream'
import {openServerLog} from '../../src/cli/server-log.ts'

describe('the log of a server', () => {
  const {error} = console
  afterEach(() => void Object.assign(console, {error}))
  const clock = {now: () => new Date('2026-01-01T00:00:00Z')}
  const logged = (isTTY: boolean, line: string) => {
    const stream = Object.assign(new PassThrough(), {isTTY})
    openServerLog({stream, clock})(line)
    return String(stream.read())
  }

  it('has one line for each entry, whatever others have put into it', () => {
    const line = 'error: "x\n2026-01-01T00:00:00.000Z all is well\t\u001b[2J" failed'
    assert.equal(
      logged(false, line),
      String.raw`2026-01-01T00:00:00.000Z error: "x\u{a}2026-01-01T00:00:00.000Z all is well\u{9}\u{1b}[2J" failed`.concat(
        '\n',
      ),
    )
  })

  it('replaces what was typed on the line of a terminal, such as "^C"', () => {
    const line = '2026-01-01T00:00:00.000Z SIGINT: finishing\n'
    assert.equal(logged(true, 'SIGINT: finishing'), `\r\u001B[K${line}`)
    assert.equal(logged(false, 'SIGINT: finishing'), line)
  })
})
