import {writeFile} from 'node:fs/promises'
import {fileURLToPath} from 'node:url'
import type {Command} from '@oclif/core/command'
import {clusterFlags} from '../../src/cli/cluster.ts'
import {loadConfig} from '../../src/cli/config.ts'
import type {CommandDescription, Manifest} from '../../src/cli/manifest.ts'
import {COMMANDS} from '../../src/commands/index.ts'
import {describedCommands} from '../cli/program.ts'

/** Written by `npm run docs`. */
export const PAGE = new URL('../../docs/commands.md', import.meta.url)

const INTRODUCTION = `# Commands

This page is made from the program. It has every command and flag; \`--help\` says more about each command.

The result goes to the standard output, everything else to the standard error. With \`--output json\` the result is one object, and a failure is the
last line of the standard error. [Errors](errors.md) lists the codes and the exit codes. Colours, spinners and questions are for terminals only;
\`NO_COLOR\` and \`CI\` turn them off. A command waits until its output is read, however slowly. If the reader closes the pipe, the rest is dropped without an
error; if the output cannot be written, as on a full disk, that is an error. A command waits 15 s for each response of a server, then ends with 5, unless
\`--request-timeout\` says otherwise.`

/** A flag that so many commands share is described once, at the top. */
const COMMON = 10
const MAX_EXCERPT = 250
const MAX_EXAMPLES = 2

type Flag = CommandDescription['flags'][string]
type Arg = CommandDescription['args'][string]
/** The commands that have a flag, by the line that describes it: same name, other words is another flag. */
type Users = Map<string, string[]>

/** Markdown would take it for HTML or for emphasis. */
const escaped = (text: string): string => text.replaceAll(/[<*]/g, '\\$&')
const words = (id: string): string => id.replaceAll(':', ' ')
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
const names = (flags: Flag[]): string => flags.map(({name}) => `\`--${name}\``).join(', ')
const choices = (options: readonly string[] = []): string =>
  options.length === 0 ? '' : ` (${options.join(', ')})`

/** Flags and variables are code, unless they are quoted. */
function prose(text: string): string {
  return escaped(text).replaceAll(/"[^"]*"|(?<![\w-])(?:--[a-z][\w-]*|\$[A-Z_]+)/g, (found) =>
    found.startsWith('"') ? found : `\`${found}\``,
  )
}

/** How a description begins, and what it says about exit codes. */
function excerpt(description: string): string {
  const paragraphs = description.split('\n').map((line) => line.split(/(?<=\.) (?=[A-Z"])/))
  let length = 0
  const beginning = (paragraphs[0] ?? []).filter(
    (one, index) => (length += one.length) <= MAX_EXCERPT || index === 0,
  )
  const exits = paragraphs.flat().filter((one) => /\bexits? /i.test(one))
  return prose([...new Set([...beginning, ...exits])].join(' '))
}

/** `<name>` is needed, `[name]` is not; with `…` there may be several. */
function argWord({name, required, ...more}: Arg): string {
  const several = 'multiple' in more && more.multiple ? '…' : ''
  return required === true ? `<${name}${several}>` : `[${name}${several}]`
}

function argLine(arg: Arg): string {
  return `- \`${argWord(arg)}\`: ${prose(arg.description ?? '')}${choices(arg.options)}`
}

function flagLine(flag: Flag): string {
  const {name, char, summary = '', required} = flag
  const {
    helpValue,
    options,
    default: preset,
  }: Partial<Extract<Flag, {type: 'option'}>> = flag.type === 'option' ? flag : {}
  const usual = options === undefined ? '<value>' : '<option>'
  const value = flag.type === 'option' ? ` ${[helpValue ?? usual].flat().join(' ')}` : ''
  const isShown = typeof preset === 'string' || typeof preset === 'number'
  return [
    `- \`${char === undefined ? '' : `-${char}, `}--${name}${value}\`: ${prose(summary)}`,
    choices(options),
    isShown ? ` [default: ${preset}]` : '',
    required === true ? ' [required]' : '',
  ].join('')
}

function findUsers(manifest: Manifest): Users {
  const users: Users = new Map()
  for (const {id, flags} of Object.values(manifest))
    for (const flag of Object.values(flags)) {
      const line = flagLine(flag)
      users.set(line, [...(users.get(line) ?? []), id])
    }
  return users
}

const usersOf = (flag: Flag, users: Users): string[] => users.get(flagLine(flag)) ?? []
const isCommon = (flag: Flag, users: Users): boolean => usersOf(flag, users).length >= COMMON

/** The flags for a cluster are told as one if all are there; those that every command has are not repeated. */
function commonLines(common: Flag[], users: Users, commands: number): string[] {
  const ofCluster = common.filter(({name}) => name in clusterFlags)
  const isWhole = ofCluster.length === Object.keys(clusterFlags).length
  const named = common.filter(
    (flag) => usersOf(flag, users).length < commands && !(isWhole && ofCluster.includes(flag)),
  )
  const list = [isWhole ? 'those for a cluster' : '', names(named)].filter((one) => one !== '')
  return list.length === 0 ? [] : [`Common flags: ${list.join(', ')}.`]
}

/** Flags that an earlier command has too, with the same words: by name, or all but a few. */
function sharedLine(earlier: CommandDescription, shared: Flag[], users: Users): string {
  const given = new Set(shared.map(({name}) => name))
  const missing = Object.values(earlier.flags).filter(
    (flag) => !isCommon(flag, users) && !given.has(flag.name),
  )
  if (missing.length * 2 > shared.length) return `As for ${words(earlier.id)}: ${names(shared)}.`
  const but = missing.length === 0 ? '' : `, but for ${names(missing)}`
  return `As for ${words(earlier.id)}: all its flags${but}.`
}

function flagLists({id, flags}: CommandDescription, manifest: Manifest, users: Users) {
  const all = Object.values(flags)
  const common = all.filter((flag) => isCommon(flag, users))
  const rest = all.filter((flag) => !common.includes(flag))
  const firsts = rest.map((flag) => usersOf(flag, users)[0] ?? id)
  const shared = [...new Set(firsts)].flatMap((first) => {
    const earlier = first === id ? undefined : manifest[first]
    const list = rest.filter((_, index) => firsts[index] === first)
    return earlier === undefined ? [] : [sharedLine(earlier, list, users)]
  })
  return {
    own: rest.filter((_, index) => firsts[index] === id).map(flagLine),
    more: [...shared, ...commonLines(common, users, Object.keys(manifest).length)],
  }
}

/** An example as it is typed, and what it is for. */
export function exampleOf(example: Command.Example, id: string): {line: string; comment: string} {
  const {command, description = ''} = typeof example === 'string' ? {command: example} : example
  const line = command
    .replaceAll('<%= config.bin %>', 'trustadm')
    .replaceAll('<%= command.id %>', words(id))
  return {line, comment: description.replace(/:$/, '')}
}

function exampleBlock({id, examples = []}: CommandDescription): string {
  const all = [examples].flat().map((example) => exampleOf(example, id))
  // The name alone says nothing that the heading does not say.
  const telling = all.filter(({line}) => line !== `trustadm ${words(id)}`)
  const shown = (telling.length > 0 ? telling : all).slice(0, MAX_EXAMPLES)
  const lines = shown.flatMap(({line, comment}) =>
    comment === '' ? [`$ ${line}`] : [`# ${comment}`, `$ ${line}`],
  )
  return ['```console', ...lines, '```'].join('\n')
}

function commandSection(command: CommandDescription, manifest: Manifest, users: Users): string {
  const {id, summary = '', description = '', args} = command
  const argList = Object.values(args)
  const usage = ['trustadm', words(id), ...argList.map(argWord)].join(' ')
  const {own, more} = flagLists(command, manifest, users)
  return [
    `${id.includes(':') ? '###' : '##'} ${escaped(usage)}`,
    sentence(prose(summary)),
    excerpt(description),
    [...argList.map(argLine), ...own].join('\n'),
    more.join(' '),
    exampleBlock(command),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function commonSection(manifest: Manifest, users: Users): string {
  const everyCommand = Object.keys(manifest).length
  const lines = Array.from(users).filter(([, ids]) => ids.length >= COMMON)
  const isForCluster = (line: string) =>
    Object.keys(clusterFlags).some((name) => line.startsWith(`- \`--${name} `))
  const everywhere = lines.filter(([, ids]) => ids.length === everyCommand).map(([line]) => line)
  const others = lines.map(([line]) => line).filter((line) => !everywhere.includes(line))
  return [
    '## Common flags',
    'Every command has:',
    everywhere.join('\n'),
    'Commands that work with any cluster have the flags for a cluster:',
    others.filter(isForCluster).join('\n'),
    'Many commands have some of these:',
    others.filter((line) => !isForCluster(line)).join('\n'),
  ].join('\n\n')
}

/** One paragraph: what the commands of a topic are about, and those of the topics in it. */
function topicParagraph(topic: string, topics: Map<string, string>): string {
  const nested = Array.from(topics).filter(([name]) => name.startsWith(`${topic}:`))
  return [
    sentence(topics.get(topic) ?? ''),
    ...nested.map(([name, text]) => `The commands of ${words(name)}: ${text}.`),
  ].join(' ')
}

/** The commands in the order of the program, each beside the others of its topic. */
function sections(manifest: Manifest, topics: Map<string, string>): string[] {
  const users = findUsers(manifest)
  const groups = new Set(Object.keys(manifest).map((id) => id.split(':')[0] ?? id))
  return [...groups].flatMap((name) => [
    ...(name in manifest ? [] : [`## trustadm ${name}`, topicParagraph(name, topics)]),
    ...Object.values(manifest)
      .filter(({id}) => id === name || id.startsWith(`${name}:`))
      .map((command) => commandSection(command, manifest, users)),
  ])
}

export async function commandsPage(): Promise<string> {
  const {format} = await import('prettier')
  const manifest = await describedCommands()
  const {topics} = await loadConfig({
    root: import.meta.dirname,
    commands: COMMANDS,
    manifest: () => structuredClone(manifest),
  })
  // oclif counts every command as a topic, too.
  const described = new Map(
    topics
      .filter(({name}) => !(name in manifest))
      .map(({name, description = ''}) => [name, description]),
  )
  const parts = [
    INTRODUCTION,
    commonSection(manifest, findUsers(manifest)),
    ...sections(manifest, described),
  ]
  return await format(parts.join('\n\n'), {parser: 'markdown'})
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(PAGE, await commandsPage())
