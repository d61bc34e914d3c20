import type {Command} from '@oclif/core/command'

/** What help, completion and the parser's errors need to know about a command without loading its code. */
export type CommandDescription = Pick<
  Command.Cached,
  | 'aliases'
  | 'args'
  | 'description'
  | 'examples'
  | 'flags'
  | 'hidden'
  | 'hiddenAliases'
  | 'id'
  | 'strict'
  | 'summary'
  | 'usage'
>

/** The commands by their ids (`init:phase`), each loaded only when it runs. */
export type CommandTable = Record<string, () => Promise<{default: Command.Class}>>

export type Manifest = Record<string, CommandDescription>

export async function loadCommand(id: string, commands: CommandTable): Promise<Command.Class> {
  const loaded = (await commands[id]?.())?.default
  if (loaded === undefined) throw new Error(`the command ${id} is not part of the program`)
  loaded.id = id
  return loaded
}

const FLAG_FIELDS = [
  'name',
  'type',
  'char',
  'summary',
  'description',
  'helpGroup',
  'helpValue',
  'hidden',
  'required',
  'multiple',
  'delimiter',
  'options',
  'default',
  'dependsOn',
  'exclusive',
  'aliases',
  'allowNo',
] as const

const ARG_FIELDS = [
  'name',
  'description',
  'required',
  'multiple',
  'options',
  'default',
  'hidden',
] as const

/** Only plain values: what is computed at run time must not be frozen at build time. */
function pick(source: object, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(source).filter(
      ([name, value]) =>
        fields.includes(name) && value !== undefined && typeof value !== 'function',
    ),
  )
}

function pickEach(
  definitions: Record<string, object>,
  fields: readonly string[],
): Record<string, never> {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [
      name,
      {name, ...pick(definition, fields)} as never,
    ]),
  )
}

function describeCommand(id: string, command: Command.Class): CommandDescription {
  return {
    id,
    aliases: command.aliases,
    hiddenAliases: command.hiddenAliases,
    strict: command.strict,
    hidden: command.hidden,
    ...pick(command, ['summary', 'description', 'examples', 'usage']),
    args: pickEach(command.args, ARG_FIELDS),
    flags: pickEach({...command.baseFlags, ...command.flags}, FLAG_FIELDS),
  }
}

/** Made once, by the build. */
export async function describeCommands(commands: CommandTable): Promise<Manifest> {
  const described = await Promise.all(
    Object.entries(commands).map(async ([id, load]) => [
      id,
      describeCommand(id, (await load()).default),
    ]),
  )
  return Object.fromEntries(described) as Manifest
}
