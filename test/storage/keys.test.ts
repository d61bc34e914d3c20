import assert from 'node:assert/strict'
import fc from 'fast-check'
import {compareKeys, KeyIndex} from '../../src/storage/keys.ts'

const byBytes = (left: string, right: string) =>
  Buffer.compare(Buffer.from(left), Buffer.from(right))

describe('the order of keys', () => {
  it('is that of their UTF-8 bytes', () => {
    const anyText = fc.string({unit: 'binary', maxLength: 8})
    fc.assert(
      fc.property(anyText, anyText, anyText, (start, left, right) => {
        const order = compareKeys(start + left, start + right)
        assert.equal(Math.sign(order), byBytes(start + left, start + right))
      }),
      {numRuns: 2_000},
    )
  })
})

describe('the index of keys', () => {
  it('holds in order what was added and not deleted, through many chunks', () => {
    const number = fc.integer({min: 0, max: 3_000})
    fc.assert(
      fc.property(
        fc.array(number, {minLength: 800, maxLength: 2_500}),
        fc.array(number, {maxLength: 1_500}),
        fc.string({unit: fc.constantFrom('0', '1', '2', 'k'), maxLength: 3}),
        number,
        (added, deleted, prefix, after) => {
          const index = new KeyIndex<{key: string}>()
          const expected = new Set<string>()
          for (const key of added.map((value) => `k${value}`)) {
            if (!index.get(key)) index.add({key})
            expected.add(key)
          }
          for (const key of deleted.map((value) => `k${value}`)) {
            index.delete(key)
            expected.delete(key)
          }
          const found = [...index.range(prefix, `k${after}`)].map(({key}) => key)
          assert.deepEqual(
            found,
            [...expected]
              .filter((key) => key.startsWith(prefix) && byBytes(key, `k${after}`) > 0)
              .sort(byBytes),
          )
        },
      ),
      {numRuns: 60},
    )
  })
})
