import type {Command} from '@oclif/core/command'
import type {Config} from '@oclif/core/config'
import {Help} from '@oclif/core/help'
import {closest} from '../closest.ts'
import {TrustError} from '../errors.ts'
import {TrustCommandHelp} from './command-help.ts'
import type {CommandLine} from './command-line.ts'
import {harmless} from './harmless-word.ts'
import {columnsOf} from './layout.ts'

const INTRODUCTION = `trustadm makes machines trust a cluster: it sets up a CA and a
Kubernetes-compatible API server, and gives every node its own certificate.

USAGE
  $ trustadm COMMAND [flags]

FIRST STEPS
  $ trustadm init        set up a control plane here and start its server
  $ trustadm join …      make another machine a node: the line that init prints
  $ trustadm status      see what runs, what is stored and what expires
  $ trustadm help init   everything about one command`

/** oclif's help with our own first page: all commands in one list, in the order of use. */
class TrustHelp extends Help {
  protected override CommandHelpClass = TrustCommandHelp

  /** Not by name: `start` comes before `complete`. */
  protected override get sortedCommands(): Command.Loadable[] {
    return this.config.commands.filter(({hidden}) => !hidden)
  }

  protected override showRootHelp(): Promise<void> {
    this.log(`${INTRODUCTION}\n\n${this.formatCommands(this.sortedCommands)}\n`)
    return Promise.resolve()
  }
}

/** Shows the help of a command, of a group of commands, or of the program. Refuses any other name. */
export async function showHelp({id, rest, wantsHelp}: CommandLine, config: Config): Promise<void> {
  if (id !== '' && !config.findCommand(id) && !config.findTopic(id)) {
    throw unknownCommand(id, config)
  }
  if (rest.length > 0 && !wantsHelp) throw groupAlone(id)
  const {helpOptions} = config.pjson.oclif
  // oclif indents the descriptions of long flags by more than it subtracts.
  const maxWidth = Math.min(helpOptions?.maxWidth ?? Infinity, columnsOf(process.stdout) - 2)
  const options = {...helpOptions, maxWidth}
  await new TrustHelp(config, options).showHelp(id === '' ? [] : [id])
}

function unknownCommand(id: string, config: Config): TrustError {
  const name = id.replaceAll(':', ' ')
  const known = config.commandIDs.map((one) => one.replaceAll(':', ' '))
  const similar = closest(name, known)
  const [group = ''] = id.split(':')
  const help = config.findTopic(group) ? `trustadm help ${group}` : 'trustadm help'
  return new TrustError('USAGE', `there is no command "${harmless(name.split(' '))}"`, {
    hints: [
      ...(similar === undefined ? [] : [`did you mean "trustadm ${similar}"?`]),
      `run "${help}" for the list of commands`,
    ],
  })
}

function groupAlone(id: string): TrustError {
  const name = id.replaceAll(':', ' ')
  return new TrustError('USAGE', `"${name}" is a group of commands and has no flags`, {
    hints: [`run "trustadm help ${name}" for its commands`],
  })
}
