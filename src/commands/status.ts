import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/places.ts'

export default class Status extends TrustCommand {
  static override summary = 'show what runs, what is stored and what expires'
  static override description =
    'Looks at the control plane of this machine: its server, its certificates and how many objects are stored. Ends with 1 where the server is not ready.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Status)
    const {loadPlane} = await import('../control-plane/config/stored.ts')
    const {readStatus} = await import('../control-plane/status.ts')
    const {statusView} = await import('../cli/views/status.ts')
    const report = await readStatus(await loadPlane(dirOf(flags.dir)), this.clock)
    await this.print(report, flags.output, statusView)
    if (!report.server.ready) this.endWith(1)
  }
}
