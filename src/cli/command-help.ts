import type {Command} from '@oclif/core/command'
import {CommandHelp} from '@oclif/core/help'

/** Words of a shell: what is quoted is not broken. */
const SHELL_WORDS = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g
const INDENT = 2
const LAST_GROUP = 'COMMON'

/** The parts of a command line that stay in one line: words, and flags with their values. */
function partsOf(command: string): string[] {
  const parts: string[] = []
  for (const word of command.match(SHELL_WORDS) ?? []) {
    const before = parts.at(-1)
    const isValue = /^--?[a-z][\w-]*$/.test(before ?? '') && /^[^-|>]/.test(word)
    if (before !== undefined && isValue) parts[parts.length - 1] = `${before} ${word}`
    else parts.push(word)
  }
  return parts
}

/** A command line as it can be copied to a shell, with a `\` at the end of each line but the last. */
export function wrapCommand(command: string, columns: number): string {
  const lines: string[] = []
  let line = '$'
  for (const part of partsOf(command)) {
    // With room for a blank and the backslash.
    if (line !== '$' && line.length + part.length + 3 > columns) {
      lines.push(line)
      line = ' '
    }
    line += ` ${part}`
  }
  return [...lines, line].join(' \\\n')
}

/** What may be given, in words that can be wrapped. */
const listed = (options: readonly string[]): string => options.join(', ')

/** oclif's help of a command, without repeating its summary. */
export class TrustCommandHelp extends CommandHelp {
  protected override description(): string | undefined {
    const {description} = this.command
    return description === undefined ? undefined : this.wrap(description)
  }

  // oclif would list every flag here, and again below.
  protected override defaultUsage(): string {
    const words = Object.values(this.command.args).map((argument) => this.arg(argument))
    return [this.command.id, ...words, '[flags]'].join(' ')
  }

  protected override arg(argument: Command.Arg.Any & {multiple?: boolean}): string {
    const name = `${argument.name.toUpperCase()}${argument.multiple === true ? '...' : ''}`
    return argument.required === true ? name : `[${name}]`
  }

  protected override args(args: Command.Arg.Any[]): [string, string | undefined][] | undefined {
    return super.args(
      args.map(({options, ...argument}) =>
        options === undefined
          ? argument
          : {...argument, description: `${argument.description ?? ''}: ${listed(options)}`},
      ),
    )
  }

  // oclif trims the first line of a list: a flag without a short form would lose its indentation.
  protected override flags(flags: Command.Flag.Any[]): [string, string | undefined][] | undefined {
    const hasShort = flags.filter(({char}) => char !== undefined)
    const sorted = [...hasShort, ...flags.filter((flag) => !hasShort.includes(flag))]
    return super.flags(sorted.map(plainFlag))
  }

  protected override groupFlags(flags: Command.Flag.Any[]): {
    flagGroups: Record<string, Command.Flag.Any[]>
    mainFlags: Command.Flag.Any[]
  } {
    const {flagGroups, mainFlags} = super.groupFlags(flags)
    const {[LAST_GROUP]: last, ...others} = flagGroups
    return {flagGroups: {...others, ...(last && {[LAST_GROUP]: last})}, mainFlags}
  }

  // oclif breaks some examples within words, and others within quotes.
  protected override examples(examples: Command.Example[] | string | undefined): string {
    return [examples ?? []]
      .flat()
      .map((example) => this.#example(example))
      .join('\n\n')
  }

  #example(example: Command.Example): string {
    const columns = this.opts.maxWidth - INDENT
    if (typeof example === 'string') return wrapCommand(this.render(example), columns)
    const command = wrapCommand(this.render(example.command), columns - INDENT)
    return `${this.wrap(example.description, INDENT)}\n\n${this.indent(command)}`
  }
}

/** The default comes last, as in the summaries that name one themselves, and the options can be wrapped. */
function plainFlag(flag: Command.Flag.Any): Command.Flag.Any {
  if (flag.type !== 'option') return flag
  const {options, summary = '', helpValue} = flag
  const value: unknown = flag.default
  const isShown = typeof value === 'string' || typeof value === 'number' || Array.isArray(value)
  const text = isShown ? `${summary} [default: ${String(value)}]` : summary
  return options === undefined || helpValue !== undefined
    ? {...flag, summary: text, default: undefined}
    : {
        ...flag,
        summary: `${text}\none of: ${listed(options)}`,
        default: undefined,
        helpValue: '<option>',
      }
}
