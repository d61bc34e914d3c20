import assert from 'node:assert/strict'
import {closest, didYouMean} from '../src/closest.ts'

const names = ['init', 'serve', 'certificate renew', 'version']

describe('closest', () => {
  it('finds what was meant with a letter wrong, missing or too many', () => {
    assert.equal(closest('versoin', names), 'version')
    assert.equal(closest('int', names), 'init')
    assert.equal(closest('serrve', names), 'serve')
  })

  it('counts two letters in the wrong order as one mistake', () => {
    assert.equal(closest('dri', ['key', 'dir']), 'dir')
  })

  it('suggests nothing if nothing is near', () => {
    assert.equal(closest('kubernetes', names), undefined)
    assert.equal(closest('yes', ['key', 'dir']), undefined)
  })

  it('is a hint for a mistyped name, and none if nothing is near', () => {
    assert.deepEqual(didYouMean('serrve', names), ['did you mean "serve"?'])
    assert.deepEqual(didYouMean('kubernetes', names), [])
  })
})
