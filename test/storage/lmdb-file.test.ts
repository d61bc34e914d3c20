import assert from 'node:assert/strict'
import {constants} from 'node:os'
import {hasOverrun, writeFailed} from '../../src/storage/lmdb-file.ts'

const lmdbError = (numbers: string) =>
  Object.assign(new Error(`Input/output error: Attempting to write page at ${numbers}`), {
    code: constants.errno.EIO,
  })

describe('a failed write of the store', () => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG', constants.errno.ENOSPC]) {
    it(`is told as a full disk for ${code}`, () => {
      const {message, suggestions} = writeFailed(Object.assign(new Error('write'), {code}))
      assert.equal(message, 'the store cannot write: the disk is full')
      assert.match(suggestions.join(), /nothing was changed: free some space/)
    })
  }

  it('is told without the numbers of LMDB', () => {
    const {message} = writeFailed(lmdbError('position 1, size 2, blocks 1, buffer sizes 1 2 3'))
    assert.equal(message, 'the store cannot write: Input/output error')
  })

  it('has overrun memory if the text of LMDB is longer than its buffer', () => {
    const most = 'position 188416, size 4096, blocks 1, buffer sizes 4096 -109079094 61945379'
    assert.equal(hasOverrun(lmdbError(most)), false)
    assert.equal(hasOverrun(lmdbError(`${most}2`)), true)
    assert.equal(hasOverrun(new Error('Input/output error')), false)
  })
})
