import {TrustError} from '../errors.ts'
import {withoutAlias} from './aliases.ts'
import {flagName} from './harmless-word.ts'

/** A command line, split into the command's id and its arguments. */
export interface CommandLine {
  /** `init:phase` for `init phase certs`; all leading words if there is no such command. */
  id: string
  rest: string[]
  wantsHelp: boolean
}

const HELP_FLAGS = ['--help', '-h']

const isFlag = (argument: string | undefined): boolean => argument?.startsWith('-') ?? false

function leadingWords(argv: readonly string[]): string[] {
  const end = argv.findIndex((argument) => argument.startsWith('-'))
  return argv.slice(0, end === -1 ? argv.length : end)
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv
    .slice(0, end === -1 ? argv.length : end)
    .some((argument) => HELP_FLAGS.includes(argument))
}

/** Finds the command with the longest name that the line starts with. */
export function readCommandLine(
  argv: readonly string[],
  isCommand: (id: string) => boolean,
): CommandLine {
  const asHelp = argv[0] === 'help'
  const line = withoutAlias(asHelp ? argv.slice(1) : argv)
  const words = leadingWords(line)
  const wantsHelp = asHelp || line.length === 0 || asksForHelp(line)
  for (let count = words.length; count > 0; count -= 1) {
    const id = words.slice(0, count).join(':')
    if (isCommand(id)) return {id, rest: line.slice(count), wantsHelp}
  }
  return {id: words.join(':'), rest: line.slice(words.length), wantsHelp}
}

/**
 * The command line with the flags behind the command that stood before it, as in `trustadm --quiet init`. `takesValue` says whether the
 * word behind a flag belongs to it.
 */
export function flagsLast(
  argv: readonly string[],
  takesValue: (flag: string) => boolean,
): readonly string[] {
  let at = 0
  while (at < argv.length && isFlag(argv[at])) {
    const flag = argv[at] ?? ''
    // What comes behind it is not for this program to sort.
    if (flag === '--') return argv
    at += !flag.includes('=') && takesValue(flag) ? 2 : 1
  }
  if (at === 0 || at >= argv.length) return argv
  const [flags, line] = [argv.slice(0, at), argv.slice(at)]
  const words = leadingWords(line)
  return [...words, ...flags, ...line.slice(words.length)]
}

/** `init --token ""` creates no token. */
const MAY_BE_EMPTY = ['--token']

/**
 * Refuses what oclif accepts: flags without a command, and empty values. An empty value usually comes from a variable that is
 * not set, and an empty folder would mean the current one.
 */
export function requireUsable({id, rest, wantsHelp}: CommandLine): void {
  if (wantsHelp) return
  if (id === '') {
    throw new TrustError('USAGE', `the command is missing before ${flagName(rest[0] ?? '')}`, {
      hints: ['run "trustadm help" for the list of commands'],
    })
  }
  for (const [index, argument] of rest.entries()) {
    const [flag = '', value] = argument.split('=', 2)
    const before = rest[index - 1]
    if (isFlag(flag) && value === '' && !MAY_BE_EMPTY.includes(flag)) throw emptyValue(flag)
    if (argument === '' && !MAY_BE_EMPTY.includes(before ?? '')) {
      throw emptyValue(isFlag(before) ? before : undefined)
    }
  }
}

function emptyValue(flag = 'an argument'): TrustError {
  return new TrustError('USAGE', `${flag} is empty`, {
    hints: ['check the variable that the value comes from, or leave it out'],
  })
}
