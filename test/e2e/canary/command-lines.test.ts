import assert from 'node:assert/strict'
import {describedCommands} from '../../cli/program.ts'
import {COMMAND_LINES} from './command-lines.ts'

describe('the command lines with secrets', () => {
  it('are there for every command of the program', async () => {
    const commands = Object.keys(await describedCommands())
    assert.deepEqual(Object.keys(COMMAND_LINES).sort(), commands.sort())
  })
})
