import assert from 'node:assert/strict'
import {flagsLast, readCommandLine} from '../../src/cli/command-line.ts'

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

  it('knows the words that fingers know', () => {
    const isOurs = (id: string) => ['certificate:list', 'autocomplete'].includes(id)
    for (const word of ['certs', 'csr', 'certificate', 'certificates'])
      assert.equal(readCommandLine([word, 'list'], isOurs).id, 'certificate:list')
    assert.deepEqual(readCommandLine(['completion', 'zsh'], isOurs).rest, ['zsh'])
  })

  it('takes flags before the command, with their values', () => {
    const takesValue = (flag: string) => ['--dir', '-o'].includes(flag)
    const moved = (line: string) => flagsLast(line.split(' '), takesValue).join(' ')
    assert.equal(moved('--quiet init'), 'init --quiet')
    assert.equal(
      moved('--dir init init phase certs --dry-run'),
      'init phase certs --dir init --dry-run',
    )
    assert.equal(moved('--dir=/srv -o json status'), 'status --dir=/srv -o json')
    for (const line of ['init --quiet', '--quiet', '-- init', '--dir'])
      assert.equal(moved(line), line)
  })

  it('does not see a question for help behind --', () => {
    assert.equal(read('init -- --help').wantsHelp, false)
  })
})
