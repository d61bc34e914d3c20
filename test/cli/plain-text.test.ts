import assert from 'node:assert/strict'
import {Chalk} from 'chalk'
import {createProgress} from '../../src/cli/progress.ts'
import {paintedText, plainText} from '../../src/cli/plain-text.ts'
import {render} from '../../src/cli/output.ts'
import {reportError} from '../../src/cli/report-error.ts'
import {TrustError} from '../../src/errors.ts'
import {captured} from './capture.ts'

/** Clears the screen, sets the title, turns the line around, hides what follows. */
const HOSTILE = 'a\u001b[2J\u009b2J\u001b]0;title\u0007\u202eb\u200f\u001b[8mc\r\u0008'
// eslint-disable-next-line no-control-regex -- that there is none is what is tested
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/

describe('text of a server or a document', () => {
  it('is shown with escapes for what would move the cursor, and loses nothing else', () => {
    assert.equal(plainText('grün\tand\nnext'), 'grün\tand\nnext')
    assert.equal(plainText('a\u001b[2Jb\u202e'), String.raw`a\u{1b}[2Jb\u{202e}`)
    assert.doesNotMatch(plainText(HOSTILE), RAW)
  })

  it('keeps our own colours, where there are any, and no other sequence', () => {
    const {red, bold} = new Chalk({level: 1})
    const painted = `${red('no')} ${bold('so')}`
    assert.equal(paintedText(painted, true), painted)
    assert.doesNotMatch(paintedText(painted, false), RAW)
    assert.match(
      paintedText('\u001b[8mhidden\u001b[5m', true),
      /^\\u\{1b\}\[8mhidden\\u\{1b\}\[5m$/,
    )
  })

  it('is never raw in an error, its hints and its stack', async () => {
    const error = new TrustError('FORBIDDEN', HOSTILE, {hints: [HOSTILE, HOSTILE]})
    for (const argv of [[], ['--verbose'], ['--output', 'json']]) {
      const {stderr} = await captured(() => reportError(error, argv))
      assert.doesNotMatch(stderr, RAW)
    }
  })

  it('is never raw in a table or a list of names', async () => {
    const view = {table: () => `NAME\n${HOSTILE}\n`, name: () => [HOSTILE]}
    for (const format of ['table', 'wide', 'name', 'json', 'yaml']) {
      assert.doesNotMatch(await render({name: HOSTILE}, format, view), RAW, format)
    }
  })

  it('is never raw in what a command tells, notes or warns of', () => {
    const written: string[] = []
    const stream = {
      isTTY: false,
      write: (text: string) => written.push(text) > 0,
    } as unknown as NodeJS.WriteStream
    for (const quiet of [true, false]) {
      const progress = createProgress({quiet, verbose: false, stream})
      progress.tell(HOSTILE)
      progress.note(HOSTILE)
      progress.warn(HOSTILE)
    }
    assert.equal(written.length > 2, true)
    assert.doesNotMatch(written.join(''), RAW)
  })
})
