import assert from 'node:assert/strict'
import {recently} from '../../src/csr/recent.ts'

describe('what was worked out recently', () => {
  const counting = () => {
    const worked: string[] = []
    const length = recently(
      (text) => {
        worked.push(text)
        if (text === 'bad') throw new Error('bad')
        return text.length
      },
      {most: 2, longest: 4},
    )
    return {worked, length}
  }

  it('is not worked out again', () => {
    const {worked, length} = counting()
    assert.deepEqual([length('a'), length('a')], [1, 1])
    assert.deepEqual(worked, ['a'])
  })

  it('is forgotten when others came after it', () => {
    const {worked, length} = counting()
    for (const text of ['a', 'b', 'c', 'b', 'a']) length(text)
    assert.deepEqual(worked, ['a', 'b', 'c', 'a'])
  })

  it('is not kept of long texts, nor where it failed', () => {
    const {worked, length} = counting()
    for (let time = 0; time < 2; time += 1) {
      assert.equal(length('longer'), 6)
      assert.throws(() => length('bad'))
    }
    assert.deepEqual(worked, ['longer', 'bad', 'longer', 'bad'])
  })

  it('can be looked up without any work', () => {
    const {worked, length} = counting()
    assert.equal(length.known('a'), undefined)
    length('a')
    assert.equal(length.known('a'), 1)
    assert.deepEqual(worked, ['a'])
  })
})
