import assert from 'node:assert/strict'
import {listUsages, parseUsages} from '../../src/bootstrap/usages.ts'

describe('usages of tokens', () => {
  for (const names of [[], ['signing'], ['authentication'], ['authentication', 'signing']]) {
    it(`may be [${names.join()}]`, () => {
      assert.deepEqual(listUsages(parseUsages(names)), names)
    })
  }

  it('come in any order', () => {
    assert.deepEqual(parseUsages(['signing', 'authentication']), {
      signing: true,
      authentication: true,
    })
  })

  for (const names of [['foo'], ['signing', 'foo'], [''], ['Signing'], ['constructor']]) {
    it(`may not be [${names.join()}]`, () => {
      assert.throws(() => parseUsages(names), {code: 'USAGE'})
    })
  }
})
