import assert from 'node:assert/strict'
import fc from 'fast-check'
import {columnsOf, formatFields, paragraph, wrap} from '../../src/cli/layout.ts'

describe('wrap', () => {
  it('loses and adds no word, and is no wider than the terminal where words are not', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), {minLength: 1})
    fc.assert(
      fc.property(words, fc.integer({min: 40, max: 120}), (list, columns) => {
        const text = wrap(list.join(' '), {columns, indent: 4})
        assert.deepEqual(text.split(/\s+/), list)
        for (const line of `    ${text}`.split('\n')) assert.ok(line.length < columns, line)
      }),
    )
  })

  it('keeps a command in quotes on one line, to be copied', () => {
    const command = '"trustadm certificate approve node-csr-0123456789"'
    const text = wrap(`somebody has to run ${command}; then go on`, {columns: 50, indent: 2})
    assert.equal(text, `somebody has to run\n  ${command};\n  then go on`)
  })

  it('leaves text alone where nobody looks', () => {
    const long = 'word '.repeat(100).trim()
    assert.equal(wrap(long, {columns: columnsOf({isTTY: false, columns: 20}), indent: 2}), long)
  })
})

describe('paragraph', () => {
  it('sets further lines in, and does not count colours', () => {
    const head = '\u001B[31mError:\u001B[39m '
    assert.equal(
      paragraph(head, 'one two three four five six seven', 30),
      `${head}one two three four\n  five six seven\n`,
    )
  })
})

describe('formatFields', () => {
  it('puts a value below its label where only that saves it from being torn', () => {
    const pin = 'x'.repeat(35)
    const options = {columns: 40, width: 14, indent: 2}
    assert.equal(formatFields([['pin', pin]], options), `  pin\n    ${pin}\n`)
    assert.equal(formatFields([['pin', 'short']], options), '  pin         short\n')
  })
})
