import assert from 'node:assert/strict'
import {isInteractive} from '../../src/cli/terminal.ts'

const terminal = {isTTY: true}

describe('isInteractive', () => {
  it('is so on a terminal', () => assert.equal(isInteractive(terminal, {}), true))
  it('is not so in a pipe', () => assert.equal(isInteractive({isTTY: false}, {}), false))
  it('is not so in continuous integration', () =>
    assert.equal(isInteractive(terminal, {CI: '1'}), false))
  it('is not so on a dumb terminal', () =>
    assert.equal(isInteractive(terminal, {TERM: 'dumb'}), false))
})
