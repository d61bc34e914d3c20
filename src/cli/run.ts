import {Config} from '@oclif/core/config'
import type {TrustCommand} from './command.ts'
import {readCommandLine, requireUsable, type CommandLine} from './command-line.ts'
import type {CommandTable, Manifest} from './manifest.ts'
import {createPlugin} from './plugin.ts'

export interface Program {
  /** The folder of the program's own files. */
  root: string
  commands: CommandTable
  manifest: Manifest
}

/** oclif's configuration, without the theme file that it would look for at every start. */
class TrustConfig extends Config {
  override loadTheme(): Promise<undefined> {
    return Promise.resolve(undefined)
  }
}

/** Runs one command line. Returns the exit code; only bin/ ends the process. */
export async function runCli(
  argv: readonly string[],
  {root, commands, manifest}: Program,
): Promise<number> {
  try {
    const plugin = createPlugin(root, commands, manifest)
    const plugins = new Map([[plugin.name, plugin]])
    const config = new TrustConfig({root, pjson: plugin.pjson, plugins})
    await config.load()
    if (argv[0] === '--version') {
      process.stdout.write(`${config.userAgent}\n`)
      return 0
    }
    return await dispatch(
      readCommandLine(argv, (id) => config.findCommand(id) !== undefined),
      config,
    )
  } catch (error) {
    const {reportError} = await import('./report-error.ts')
    return await reportError(error, argv)
  }
}

async function dispatch(line: CommandLine, config: Config): Promise<number> {
  requireUsable(line)
  const command = config.findCommand(line.id)
  if (line.wantsHelp || command === undefined) {
    const {showHelp} = await import('./help.ts')
    await showHelp(line, config)
    return 0
  }
  process.exitCode = 0
  const Loaded = (await command.load()) as unknown as new (
    ...args: ConstructorParameters<typeof TrustCommand>
  ) => TrustCommand
  await new Loaded(line.rest, config).start()
  return exitCode()
}

/** The exit code of a command that succeeded but has to report a problem: see `endWith`. */
const exitCode = (): number => Number(process.exitCode ?? 0)
