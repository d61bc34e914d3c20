import assert from 'node:assert/strict'
import {stripVTControlCharacters} from 'node:util'
import {wrapCommand} from '../../src/cli/command-help.ts'
import {describedCommands, run} from './program.ts'

/** In a shell, a line break within quotes is part of the word. */
const breaksQuotes = (line: string): boolean =>
  line.endsWith(' \\') && /['"]/.test(line.replaceAll(/'[^']*'|"[^"]*"/g, ''))

describe('an example', () => {
  const wrapped = (command: string) => wrapCommand(command, 30).split('\n')

  it('is one line if there is room', () => {
    assert.deepEqual(wrapped('trustadm status'), ['$ trustadm status'])
  })

  it('is continued where a shell understands it, with flags beside their values', () => {
    assert.deepEqual(wrapped("trustadm join --dir /srv/plane --yes --on 'a b' | xargs echo"), [
      '$ trustadm join \\',
      '  --dir /srv/plane --yes \\',
      "  --on 'a b' | xargs echo",
    ])
  })

  it('never has a break within quotes', () => {
    const program = '\'.machines[] | select(.state == "overdue")\''
    assert.deepEqual(wrapped(`jq -r ${program} file`), ['$ jq \\', `  -r ${program} \\`, '  file'])
  })
})

describe('the help of a group of commands', () => {
  it('has a description of its own, not that of its first command', async () => {
    const ids = Object.values(await describedCommands()).map(({id, summary}) => ({id, summary}))
    for (const group of ['machine', 'bootstrap-credential', 'ca']) {
      const {stdout} = await run('help', ...group.split(':'))
      const [first = ''] = stripVTControlCharacters(stdout).split('\n')
      assert.ok(first !== '' && !ids.some(({summary}) => summary === first), `${group}: ${first}`)
    }
  })
})

describe('the help of every command', () => {
  const {isTTY, columns} = process.stdout
  afterEach(() => Object.assign(process.stdout, {isTTY, columns}))

  for (const width of [80, 120]) {
    it(`fits ${width} columns`, async () => {
      const ids = Object.values(await describedCommands()).map(({id}) => id.split(':'))
      const long: string[] = []
      for (const words of [[], ...ids]) {
        Object.assign(process.stdout, {isTTY: true, columns: width})
        const {stdout, exit} = await run(...words, '--help')
        Object.assign(process.stdout, {isTTY, columns})
        assert.equal(exit, 0, words.join(' '))
        const lines = stripVTControlCharacters(stdout).split('\n')
        assert.ok(lines.length > 5, words.join(' '))
        const headings = lines.filter((line) => line.endsWith(' FLAGS'))
        if (headings.length > 0) assert.equal(headings.at(-1), 'COMMON FLAGS', words.join(' '))
        long.push(...lines.filter((line) => line.length > width || breaksQuotes(line)))
      }
      assert.deepEqual(long, [])
    })
  }
})
