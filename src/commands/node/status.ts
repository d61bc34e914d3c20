import {output} from '../../cli/flags.ts'
import {joinedDirOf} from '../../cli/folders.ts'
import {NodeStatusBase} from '../../cli/node/status-command.ts'
import {nodeFlags} from '../../cli/node-flags.ts'

export default class NodeStatusCommand extends NodeStatusBase {
  static override summary = "show this machine's certificates, when they are due, and what failed"
  static override description =
    'Asks the running "node run", or reads the files of the node if that does not answer, and says which. Needs no server. Exits with 7 if a certificate is overdue for renewal, has expired, or is not valid yet by the clock of this machine.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    {
      description: 'In a health check:',
      command: '<%= config.bin %> <%= command.id %> --output json || alert',
    },
  ]
  static override flags = {...nodeFlags, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(NodeStatusCommand)
    await this.showNode(await joinedDirOf(flags.dir), flags)
  }
}
