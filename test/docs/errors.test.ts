import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {failureOf} from '../../src/cli/report-error.ts'
import {ERROR_CODES, EXIT} from '../../src/errors.ts'

const text = readFileSync('docs/errors.md', 'utf8')
const rows = new Map(
  Array.from(text.matchAll(/^\| `([A-Z_]+)` +\| (\d+) +\|/gm), ([, code = '', exit]) => [
    code,
    Number(exit),
  ]),
)

describe('docs/errors.md', () => {
  it('lists every error code with its exit code, and no other', () => {
    assert.deepEqual(Object.fromEntries(rows), {...ERROR_CODES})
  })

  it('explains every exit code', () => {
    for (const code of Object.values(EXIT)) assert.match(text, new RegExp(`^\\| ${code} +\\|`, 'm'))
  })

  it('names the code of a command that was stopped, which is no error', () => {
    const stopped = Object.assign(new Error('stopped'), {name: 'ExitPromptError'})
    const {code, exit} = failureOf(stopped)
    assert.match(text, new RegExp(`^\\| ${exit} +\\|.*\`${code}\``, 'm'))
  })
})
