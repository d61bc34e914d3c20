import assert from 'node:assert/strict'
import {constants} from 'node:os'
import {isDiskFull, TrustError} from '../src/errors.ts'

describe('a full disk', () => {
  const written = Object.assign(new Error('write'), {code: 'ENOSPC'})

  it('is known by the name of the error, and by its number', () => {
    assert.ok(isDiskFull(written))
    assert.ok(isDiskFull({code: constants.errno.EDQUOT}))
  })

  it('is found below other errors', () => {
    const error = new TrustError('STORE_WRITE_FAILED', 'the store cannot write', {cause: written})
    assert.ok(isDiskFull(new Error('cannot start', {cause: error})))
  })

  it('is not what an error only talks about', () => {
    assert.ok(!isDiskFull(new Error('ENOSPC: the disk is full')))
    assert.ok(!isDiskFull(Object.assign(new Error('read'), {code: 'EIO'})))
    assert.ok(!isDiskFull(undefined))
  })
})
