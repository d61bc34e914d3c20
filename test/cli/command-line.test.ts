import assert from 'node:assert/strict'
import {readCommandLine} from '../../src/cli/command-line.ts'

const isCommand = (id: string) => ['init', 'init:phase', 'version'].includes(id)
const read = (line: string) => readCommandLine(line === '' ? [] : line.split(' '), isCommand)

describe('readCommandLine', () => {
  it('takes the longest name that is a command', () => {
    assert.deepEqual(read('init phase certs --dry-run'), {
      id: 'init:phase',
      rest: ['certs', '--dry-run'],
      wantsHelp: false,
    })
  })

  it('leaves words behind a command to the command', () => {
    assert.deepEqual(read('init certs').rest, ['certs'])
  })

  it('does not take the value of a flag for a part of the name', () => {
    assert.equal(read('init --node-name phase').id, 'init')
  })

  it('keeps the whole of a name that is no command', () => {
    assert.equal(read('certificate foo').id, 'certificate:foo')
  })

  for (const line of ['', 'help', 'help init', 'init --help', 'init -h']) {
    it(`sees that "${line}" asks for help`, () => assert.equal(read(line).wantsHelp, true))
  }

  it('does not see a question for help behind --', () => {
    assert.equal(read('init -- --help').wantsHelp, false)
  })
})
