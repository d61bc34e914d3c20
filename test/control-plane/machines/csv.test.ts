import assert from 'node:assert/strict'
import {readCsv} from '../../../src/control-plane/machines/csv.ts'

describe('readCsv', () => {
  it('reads cells with and without quotes, and the line that each record begins in', () => {
    const text = 'name,dns\r\n"a ""b""",c d\n\n# a comment, with a comma\n"two\nlines",x\nlast,'
    assert.deepEqual(readCsv(text).records, [
      {line: 1, cells: ['name', 'dns']},
      {line: 2, cells: ['a "b"', 'c d']},
      {line: 5, cells: ['two\nlines', 'x']},
      {line: 7, cells: ['last', '']},
    ])
  })

  it('takes no notice of a byte order mark', () => {
    assert.deepEqual(readCsv('\ufeffname\na').records[0]?.cells, ['name'])
  })

  for (const text of ['name\n"a', 'name\n"a"b,c', 'name\na"b']) {
    it(`says in which line a quote is wrong: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(readCsv(text).problem?.line, 2)
    })
  }

  it('takes linear time for many quotes', () => {
    const {records} = readCsv(`name\n"${'""'.repeat(500_000)}"`)
    assert.equal(records[1]?.cells[0]?.length, 500_000)
  })
})
