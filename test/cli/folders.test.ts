import assert from 'node:assert/strict'
import {dirOf, nodeDirOf} from '../../src/cli/folders.ts'

describe('the folder that a user names', () => {
  for (const dir of ['/srv/a\nExecStartPre=/tmp/evil', '/a\r', '/a\u001b[2J', '/a\u0085']) {
    it(`is refused if it has a control character: ${JSON.stringify(dir)}`, () => {
      assert.throws(() => dirOf(dir), {code: 'USAGE'})
      assert.throws(() => nodeDirOf(dir), {code: 'USAGE'})
    })
  }

  it('may have any other character', () => {
    assert.equal(dirOf('/srv/ä b%$"'), '/srv/ä b%$"')
  })
})
