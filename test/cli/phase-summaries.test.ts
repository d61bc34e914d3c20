import assert from 'node:assert/strict'
import {INIT_PHASES} from '../../src/control-plane/init/init.ts'
import {joinPhases} from '../../src/node/join/join.ts'

/** A mark and the longest name of a phase with blanks around them, and the last column. */
const LEFT = 23

describe('what the phases say about themselves', () => {
  it('fits a terminal of 80 columns, and is not cut off', () => {
    for (const {name, summary} of [...Object.values(INIT_PHASES), ...joinPhases()]) {
      assert.ok(LEFT + summary.length <= 80, `${name}: ${summary}`)
    }
  })
})
