import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import * as Parser from '@oclif/core/parser'
import {readCommandLine} from '../../src/cli/command-line.ts'
import {loadCommand} from '../../src/cli/manifest.ts'
import {COMMANDS} from '../../src/commands/index.ts'
import {describedCommands} from '../cli/program.ts'
import {commandsPage, exampleOf, PAGE} from './commands-page.ts'

const text = readFileSync(PAGE, 'utf8')
/** By what their heading says, without its arguments. */
const sections = new Map(
  text
    .split(/^##+ /m)
    .map((section) => [/^(?:[a-z-]+ ?)+/i.exec(section)?.[0].trim() ?? '', section]),
)
const section = (name: string): string => sections.get(name) ?? ''

/** A line that describes a flag: `- `-o, --output <option>`: how …`. */
const OWN = /^- `(?:-\w, )?--([\w-]+)(?: [^`]+)?`: (?=\S)/gm
const namesIn = (list = ''): string[] =>
  Array.from(list.matchAll(/`--([\w-]+)`/g), ([, name = '']) => name)
const described = (part: string): string[] =>
  Array.from(part.matchAll(OWN), ([, name = '']) => name)

const [, forAll = '', forCluster = '', forMany = ''] =
  /has:\n(.*?)\nCommands .*?:\n(.*?)\nMany .*?:\n(.*)/s.exec(section('Common flags')) ?? []

/** Every flag that a reader finds for a command, here or where the section sends them. */
function flagsOf(name: string): string[] {
  const part = section(`trustadm ${name}`)
  const shared = Array.from(
    part.matchAll(/As for ([a-z -]+): (all its flags(?:, but for )?)?([^.]*)\./g),
    ([, other = '', all, list]) => {
      const known = described(section(`trustadm ${other}`))
      const named = namesIn(list)
      for (const one of named) assert.ok(known.includes(one), `${name}: --${one} of ${other}`)
      return all === undefined ? named : known.filter((one) => !named.includes(one))
    },
  )
  const [, common = ''] = /Common flags: (.*)\.$/m.exec(part) ?? []
  const named = namesIn(common)
  const known = [...described(forCluster), ...described(forMany)]
  for (const one of named) assert.ok(known.includes(one), `${name}: --${one} is common`)
  const ofCluster = common.includes('those for a cluster') ? described(forCluster) : []
  return [...described(part), ...shared.flat(), ...named, ...ofCluster, ...described(forAll)]
}

describe('docs/commands.md', () => {
  it('is what "npm run docs" makes of the program', async () => {
    assert.equal(text, await commandsPage())
  })

  it('has every command, with its arguments and an example', async () => {
    for (const {id, args} of Object.values(await describedCommands())) {
      const part = section(`trustadm ${id.replaceAll(':', ' ')}`)
      assert.notEqual(part, '', id)
      assert.match(part, /^```console\n(?:# .*\n)?\$ .*\btrustadm /m, id)
      for (const name of Object.keys(args))
        assert.match(part, new RegExp(`^- \`[<[]${name}…?[>\\]]\`: \\S`, 'm'), `${id} ${name}`)
    }
  })

  it('says for every flag of every command what it does, and names no other', async () => {
    for (const {id, flags} of Object.values(await describedCommands())) {
      const listed = flagsOf(id.replaceAll(':', ' '))
      assert.deepEqual(listed.toSorted(), Object.keys(flags).toSorted(), id)
    }
  })
})

/** The words of the line behind the program's name, up to where the shell does something else. */
function argvOf(line: string): string[] {
  const inner = /[$<]\((trustadm [^()]*)\)/.exec(line)?.[1]
  const ours = inner ?? line.slice(line.indexOf('trustadm '))
  const all = ours.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []
  const end = all.findIndex((one) => /^(?:[|&;>]|2>)/.test(one))
  return all.slice(1, end === -1 ? undefined : end).map((one) => one.replaceAll(/['"]/g, ''))
}

describe('the examples of the commands', () => {
  for (const id of Object.keys(COMMANDS)) {
    it(`are lines that ${id.replaceAll(':', ' ')} takes`, async () => {
      const command = await loadCommand(id, COMMANDS)
      const examples = [command.examples].flat()
      assert.ok(examples.length > 0)
      for (const {line} of examples.map((one) => exampleOf(one, id))) {
        const {id: named, rest} = readCommandLine(argvOf(line), (one) =>
          Object.hasOwn(COMMANDS, one),
        )
        assert.equal(named, id, line)
        const {args, baseFlags, flags, strict} = command
        await Parser.parse(rest, {args, flags: {...baseFlags, ...flags}, strict}).catch(
          (error: unknown) => assert.fail(`${line}: ${String(error)}`),
        )
      }
    })
  }
})
