import assert from 'node:assert/strict'
import {formatTable} from '../../src/cli/table.ts'

describe('formatTable', () => {
  it('lines up columns with three spaces between them and none behind', () => {
    assert.equal(
      formatTable(
        ['NAME', 'AGE'],
        [
          ['long-name', '1d'],
          ['x', '10d'],
        ],
      ),
      'NAME        AGE\nlong-name   1d\nx           10d\n',
    )
  })

  it('keeps a cell on its line, whatever is in it', () => {
    assert.equal(formatTable(['NAME'], [['a\nevil']]), 'NAME\na evil\n')
  })
})
