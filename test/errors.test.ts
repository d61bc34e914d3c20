import assert from 'node:assert/strict'
import {isDiskFull, TrustError} from '../src/errors.ts'

describe('a full disk', () => {
  const written = Object.assign(new Error('write'), {code: 'ENOSPC'})

  it('is known by the code of the error', () => {
    assert.ok(isDiskFull(written))
  })

  it('is found below other errors', () => {
    const error = new TrustError('STORE_WRITE_FAILED', 'the store cannot write', {cause: written})
    assert.ok(isDiskFull(new Error('cannot start', {cause: error})))
  })

  it('is not what an error only talks about', () => {
    assert.ok(!isDiskFull(new Error('ENOSPC: the disk is full')))
    assert.ok(!isDiskFull(Object.assign(new Error('read'), {code: 'EIO'})))
    // The exit code of a program, which is the number of ENOSPC.
    assert.ok(!isDiskFull({code: 28}))
    assert.ok(!isDiskFull(undefined))
  })

  it('is looked for also if an error is its own cause', () => {
    const error = new Error('round')
    error.cause = error
    assert.ok(!isDiskFull(error))
  })
})
