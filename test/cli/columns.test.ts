import assert from 'node:assert/strict'
import fc from 'fast-check'
import {fit, formatColumns} from '../../src/cli/columns.ts'

const terminal = (columns: number) => ({isTTY: true, columns})

describe('columns that fit', () => {
  it('are never narrower than they may be, and as wide as they can', () => {
    const widths = fc.array(fc.integer({min: 1, max: 60}), {minLength: 3, maxLength: 3})
    fc.assert(
      fc.property(widths, fc.integer({min: 20, max: 200}), (wanted, columns) => {
        const [first = 0, second = 0, third = 0] = fit(wanted, columns, {least: new Map([[1, 8]])})
        assert.equal(first, wanted[0])
        assert.equal(third, wanted[2])
        const isCut = second < (wanted[1] ?? 0)
        assert.ok(!isCut || second === 8 || first + second + third + 6 === columns)
      }),
    )
  })

  it('are left out one by one where cutting is not enough', () => {
    const narrowing = {least: new Map<number, number>(), droppable: [1, 0]}
    assert.deepEqual(fit([10, 10, 10], 36, narrowing), [10, 10, 10])
    assert.deepEqual(fit([10, 10, 10], 35, narrowing), [10, 0, 10])
    assert.deepEqual(fit([10, 10, 10], 22, narrowing), [0, 0, 10])
  })

  it('may have more of them cut and left out at last', () => {
    const last = {least: new Map([[2, 6]]), droppable: [0]}
    const narrowing = {least: new Map<number, number>(), droppable: [1], last}
    assert.deepEqual(fit([10, 10, 10], 23, narrowing), [10, 0, 10])
    assert.deepEqual(fit([10, 10, 10], 20, narrowing), [10, 0, 7])
    assert.deepEqual(fit([10, 10, 10], 18, narrowing), [0, 0, 10])
  })

  it('lose the front of cells that differ in their ends', () => {
    const narrowing = {least: new Map([[0, 4]]), cutFront: new Set([0])}
    assert.equal(
      formatColumns(['A', 'B'], [['system:abcdef', 'x']], narrowing, terminal(10)),
      'A        B\n…bcdef   x\n',
    )
  })

  it('lose what their cells have in common before what tells them apart', () => {
    const narrowing = {least: new Map([[0, 4]]), common: new Map([[0, ['O=x', 'system:']]])}
    const shown = (columns: number) =>
      formatColumns(['A', 'B'], [['CN=system:abcdef, O=x', 'x']], narrowing, terminal(columns))
    assert.equal(shown(25), 'A                       B\nCN=system:abcdef, O=x   x\n')
    assert.equal(shown(23), 'A                     B\nCN=system:abcdef, …   x\n')
    assert.equal(shown(17), 'A               B\nCN=…abcdef, …   x\n')
    assert.equal(shown(12), 'A          B\nCN=…abc…   x\n')
  })

  it('are whole where nobody looks', () => {
    const narrowing = {least: new Map([[0, 4]]), droppable: [1]}
    assert.equal(
      formatColumns(['A', 'B'], [['abcdefghij', 'x']], narrowing, {isTTY: false, columns: 5}),
      'A            B\nabcdefghij   x\n',
    )
  })
})
