import assert from 'node:assert/strict'
import fc from 'fast-check'
import {SortedKeys} from '../../../src/server/registry/sorted-keys.ts'

const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** Few different keys, so that they meet; some beyond the BMP, whose UTF-16 order is not their byte order. */
const key = fc
  .array(fc.constantFrom('a', 'b', '/', '-', '\uffee', '😀'), {minLength: 1, maxLength: 4})
  .map((parts) => parts.join(''))

describe('SortedKeys', () => {
  it('holds and orders keys as a set sorted by bytes does, whatever is added and deleted', () => {
    const step = fc.record({add: fc.boolean(), key})
    fc.assert(
      fc.property(fc.array(step, {maxLength: 200}), key, key, (steps, prefix, after) => {
        const keys = new SortedKeys()
        const model = new Set<string>()
        for (const {add, key} of steps) {
          keys[add ? 'add' : 'delete'](key)
          model[add ? 'add' : 'delete'](key)
        }
        const all = [...model].sort(byBytes)
        assert.equal(keys.size, all.length)
        assert.deepEqual([...keys.range('')], all)
        const within = all.filter((one) => one.startsWith(prefix) && byBytes(one, after) > 0)
        assert.deepEqual([...keys.range(prefix, after)], within)
        assert.equal(keys.count(prefix, after), within.length)
      }),
    )
  })

  it('keeps the order over many keys, past the size at which it splits', () => {
    const keys = new SortedKeys()
    const names = Array.from({length: 5000}, (_, index) => `k${(index * 7919) % 5000}`)
    for (const name of names) keys.add(name)
    for (const name of names.slice(0, 2500)) keys.delete(name)
    const left = names.slice(2500).sort(byBytes)
    assert.deepEqual([...keys.range('')], left)
    assert.deepEqual([...keys.range('', left[1200])], left.slice(1201))
    assert.equal(keys.count('', left[1200]), left.length - 1201)
  })
})
