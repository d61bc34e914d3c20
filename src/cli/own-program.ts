import {resolve} from 'node:path'

/** The command that starts this program, without arguments. */
export const ownProgram = (): string[] => [
  process.execPath,
  ...process.execArgv,
  process.argv[1] ?? '',
]

/** A word of the command line, as oclif reads it. */
export interface RawFlag {
  type: string
  flag?: string
  input: string
}

/** The flags of a command line once more, without some of them. Files are named by their whole path: the folder may be another one. */
export function givenAgain(
  raw: readonly RawFlag[],
  known: Readonly<Record<string, {type: string}>>,
  without: readonly string[],
): string[] {
  return raw.flatMap(({type, flag, input}) => {
    if (type !== 'flag' || flag === undefined || without.includes(flag)) return []
    if (known[flag]?.type !== 'option') return [`--${flag}`]
    return [`--${flag}`, /-(?:file|path)$/.test(flag) ? resolve(input) : input]
  })
}
