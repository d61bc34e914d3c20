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

/** `init --token ""` creates no token. */
const MAY_BE_EMPTY = ['--token']

const isFlag = (argument: string | undefined): boolean => argument?.startsWith('-') ?? false

/**
 * Refuses what oclif accepts: flags before the command, and empty values. An empty value usually comes from a variable that is
 * not set, and an empty folder would mean the current one.
 */
export function requireUsable({id, rest, wantsHelp}: CommandLine): void {
  if (wantsHelp) return
  if (id === '') {
    throw new TrustError('USAGE', `the command is missing before ${flagName(rest[0] ?? '')}`, {
      hints: [
        'flags come after the command, as in "trustadm init --verbose"',
        'run "trustadm help" for the list of commands',
      ],
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
