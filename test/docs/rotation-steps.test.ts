import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {STEPS} from '../../src/control-plane/ca-rotation/steps.ts'

const text = readFileSync('docs/operations.md', 'utf8')

/** The rows of the table below the heading, without its head. */
function documented(): string[][] {
  const [, section = ''] = text.split('\n### The steps\n')
  const [body = ''] = section.split('\n### ')
  const rows = body.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe('the steps of a rotation in docs/operations.md', () => {
  it('are those of the program, in their order', () => {
    const wanted = Object.entries(STEPS).flatMap(([action, steps]) =>
      steps.map(({id, summary, when = []}) => [
        `\`${action}\``,
        `\`${id}\``,
        summary,
        when.join(', '),
      ]),
    )
    assert.deepEqual(documented(), wanted)
  })
})
