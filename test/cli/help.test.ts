import assert from 'node:assert/strict'
import {stripVTControlCharacters} from 'node:util'
import {describedCommands, run} from './program.ts'

/** Examples are lines to copy: they are not broken. */
const isExample = (line: string): boolean => /^ +(?:\$ |list-machines )/.test(line)

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
        long.push(...lines.filter((line) => line.length > width && !isExample(line)))
      }
      assert.deepEqual(long, [])
    })
  }
})
