import {tryFlippedBits} from './flipped-bits.ts'
import {temporaryFolder} from './temporary-folder.ts'

describe('the files of an lmdb store, bit by bit', () => {
  it('with any one flipped bit are either refused or read exactly as they were', async function () {
    this.timeout(120_000)
    const {folder, remove} = await temporaryFolder()
    try {
      await tryFlippedBits(folder, 1)
    } finally {
      await remove()
    }
  })
})
