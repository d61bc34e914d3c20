import type {Config} from '@oclif/core/config'
import type {TrustCommand} from './command.ts'
import {flagsLast, readCommandLine, requireUsable, type CommandLine} from './command-line.ts'
import type {Program} from './config.ts'
import {onInterruption} from './interruption.ts'
import {loadCommand} from './manifest.ts'

/** What the scripts of "autocomplete" call with the words so far; not a command for people. */
const COMPLETE = '__complete'

/** Runs one command line. Returns the exit code; only bin/ ends the process. */
export async function runCli(argv: readonly string[], program: Program): Promise<number> {
  let line = argv
  try {
    if (argv[0] === '--version') {
      const {loadConfig} = await import('./config.ts')
      process.stdout.write(`${(await loadConfig(program)).userAgent}\n`)
      return 0
    }
    if (argv[0] === COMPLETE) {
      const {printCompletion} = await import('./print-completion.ts')
      return await printCompletion(argv.slice(1), program.manifest())
    }
    if (argv[0]?.startsWith('-')) line = flagsLast(argv, valueFlags(program))
    return await dispatch(
      readCommandLine(line, (id) => Object.hasOwn(program.commands, id)),
      program,
    )
  } catch (error) {
    const {reportError} = await import('./report-error.ts')
    const {forSameCluster} = await import('./same-cluster.ts')
    return await reportError(error, argv, forSameCluster(line, program.manifest))
  }
}

/** Before the command is known, a flag takes a value if it does so in any command. */
function valueFlags({manifest}: Program): (flag: string) => boolean {
  const flags = Object.values(manifest()).flatMap((command) => Object.values(command.flags))
  const names = flags
    .filter(({type}) => type === 'option')
    .flatMap(({name, char}) => [`--${name}`, `-${char ?? ''}`])
  return (flag) => names.includes(flag)
}

async function dispatch(line: CommandLine, program: Program): Promise<number> {
  requireUsable(line)
  if (line.wantsHelp || !Object.hasOwn(program.commands, line.id)) {
    const {loadConfig} = await import('./config.ts')
    const {showHelp} = await import('./help.ts')
    await showHelp(line, await loadConfig(program))
    return 0
  }
  process.exitCode = 0
  const release = endsBySignal(line) ? () => undefined : onInterruption(() => undefined)
  const Loaded = (await loadCommand(line.id, program.commands)) as unknown as new (
    ...args: ConstructorParameters<typeof TrustCommand>
  ) => TrustCommand
  try {
    await new Loaded(line.rest, runConfig(program)).run()
  } finally {
    release()
  }
  return exitCode()
}

/** Commands that a signal ends in good order, as they are meant to be ended. */
const UNTIL_SIGNALLED = ['serve', 'controllers', 'node:run']

const endsBySignal = ({id, rest}: CommandLine): boolean =>
  UNTIL_SIGNALLED.includes(id) || rest.includes('--foreground')

/** What a command that runs needs of oclif's configuration. The whole of it describes every command, and takes longer than most of them run. */
function runConfig({manifest}: Program): Config {
  const config: Pick<Config, 'bin' | 'runHook'> & {commands: unknown} = {
    bin: 'trustadm',
    runHook: () => Promise.resolve({failures: [], successes: []}),
    get commands() {
      return Object.values(manifest())
    },
  }
  return config as Config
}

/** The exit code of a command that succeeded but has to report a problem: see `endWith`. */
const exitCode = (): number => Number(process.exitCode ?? 0)
