import type {CommandDescription, Manifest} from './manifest.ts'
import {withoutAlias} from './aliases.ts'
import {
  NAMES_OF_FLAG,
  STATIC_VALUES,
  namesFor,
  type Candidate,
  type NameSource,
} from './complete-names.ts'

/** What a shell offers: words, and files or folders if one may be named here. */
export interface Completion {
  files: 'none' | 'any' | 'folders'
  candidates: Candidate[]
}

type Flag = CommandDescription['flags'][string]

const NOTHING: Completion = {files: 'none', candidates: []}

/** Where the cursor is: the command so far, what was given, and the word that is being typed. */
interface Place {
  path: string[]
  /** Arguments of the command. */
  given: string[]
  flags: Map<string, string>
  /** The flag whose value is being typed. */
  pending: Flag | undefined
  current: string
}

const flagsOf = (command: CommandDescription | undefined): Flag[] =>
  Object.values(command?.flags ?? {}).filter(({hidden}) => !hidden)

/** The flag that a word names, of this command or, before it is known, of any. */
function flagOf(word: string, known: readonly CommandDescription[]): Flag | undefined {
  const [name = ''] = word.split('=', 1)
  const isNamed = (flag: Flag) => name === `--${flag.name}` || name === `-${flag.char ?? ''}`
  return known.flatMap(flagsOf).find(isNamed)
}

function placeOf(words: readonly string[], manifest: Manifest): Place {
  const before = withoutAlias(words.slice(0, -1))
  const place: Place = {
    path: [],
    given: [],
    flags: new Map(),
    pending: undefined,
    current: words.at(-1) ?? '',
  }
  const ids = Object.keys(manifest)
  for (const word of before) {
    if (place.pending !== undefined) {
      place.flags.set(place.pending.name, word)
      place.pending = undefined
      continue
    }
    if (word.startsWith('-')) {
      const own = manifest[place.path.join(':')]
      const flag = flagOf(word, own ? [own] : Object.values(manifest))
      const at = word.indexOf('=')
      if (flag?.type !== 'option') continue
      if (at === -1) place.pending = flag
      else place.flags.set(flag.name, word.slice(at + 1))
      continue
    }
    const next = [...place.path, word].join(':')
    const leads = ids.some((id) => id === next || id.startsWith(`${next}:`))
    if (leads && place.given.length === 0) place.path.push(word)
    else place.given.push(word)
  }
  return place
}

/** The words that may follow a path: commands and groups of commands. */
function nextWords(path: readonly string[], manifest: Manifest): Candidate[] {
  const prefix = path.map((word) => `${word}:`).join('')
  const found = new Map<string, string | undefined>()
  for (const {id, summary, hidden} of Object.values(manifest)) {
    if (hidden || !id.startsWith(prefix)) continue
    const [word = '', ...more] = id.slice(prefix.length).split(':')
    if (more.length === 0 || !found.has(word)) found.set(word, more.length === 0 ? summary : '')
  }
  return [...found].map(([word, summary]) => ({word, summary}))
}

const starting = (candidates: Candidate[], start: string): Candidate[] =>
  candidates.filter(({word}) => word.startsWith(start))

/** Words of a flag that takes several, separated by commas: only the last is being typed. */
function listed(flag: Flag, candidates: Candidate[], current: string): Candidate[] {
  const end = flag.type === 'option' && flag.delimiter ? current.lastIndexOf(',') + 1 : 0
  const [done, typed] = [current.slice(0, end), current.slice(end)]
  const already = done.split(',')
  return candidates
    .filter(({word}) => word.startsWith(typed) && !already.includes(word))
    .map((candidate) => ({...candidate, word: done + candidate.word}))
}

async function valuesOf(
  flag: Flag,
  current: string,
  {path, flags}: Place,
  names: NameSource,
): Promise<Completion> {
  if (flag.type !== 'option') return NOTHING
  const {helpValue} = flag
  if (helpValue === '<file>') return {files: 'any', candidates: []}
  if (helpValue === '<folder>') return {files: 'folders', candidates: []}
  const known = flag.options ?? STATIC_VALUES[flag.name]?.(path) ?? []
  const kind = NAMES_OF_FLAG[flag.name]
  const found = kind ? await names(kind, flags) : []
  const candidates = [...known.map((word) => ({word})), ...found]
  return {files: 'none', candidates: listed(flag, candidates, current)}
}

/** What may stand at the end of this command line. */
export async function complete(
  words: readonly string[],
  manifest: Manifest,
  names: NameSource,
): Promise<Completion> {
  const place = placeOf(words, manifest)
  const {path, given, flags, pending, current} = place
  if (pending !== undefined) return await valuesOf(pending, current, place, names)
  const command = manifest[path.join(':')]
  const at = current.indexOf('=')
  if (current.startsWith('-') && at !== -1) {
    const flag = flagOf(current, command ? [command] : [])
    if (flag === undefined) return NOTHING
    const {files, candidates} = await valuesOf(flag, current.slice(at + 1), place, names)
    const start = current.slice(0, at + 1)
    return {files, candidates: candidates.map((one) => ({...one, word: start + one.word}))}
  }
  if (current.startsWith('-')) {
    const own = flagsOf(command).map(({name, summary}) => ({word: `--${name}`, summary}))
    const all = [...own, {word: '--help', summary: 'show help'}]
    return {files: 'none', candidates: starting(all, current)}
  }
  const args = Object.values(command?.args ?? {})
  const argument = args[Math.min(given.length, args.length - 1)]
  if (argument?.name === 'file' && given.length === 0) return {files: 'any', candidates: []}
  const options = (argument?.options ?? []).map((word) => ({word}))
  const kind = namesFor(path, argument?.name)
  const known = kind ? await names(kind, flags) : []
  const commands =
    given.length === 0 ? nextWords(path, manifest).filter(({word}) => word !== '') : []
  const candidates = [...commands, ...options, ...known].filter(({word}) => !given.includes(word))
  return {files: 'none', candidates: starting(candidates, current)}
}
