import assert from 'node:assert/strict'
import {colours} from '../../src/cli/colours.ts'

const terminal = {isTTY: true}

describe('colours', () => {
  it('paints on a terminal', () => assert.notEqual(colours(terminal, {}).red('x'), 'x'))
  it('does not paint with NO_COLOR', () =>
    assert.equal(colours(terminal, {NO_COLOR: '1'}).red('x'), 'x'))
  it('does not paint in a pipe', () => assert.equal(colours({isTTY: false}, {}).red('x'), 'x'))
})
