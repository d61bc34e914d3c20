import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'
import {EXIT} from '../errors.ts'

export default class Status extends TrustCommand {
  static override summary = 'show what runs, what is stored and what expires'
  static override description =
    'Shows the control plane of this machine: its server, its certificates and how many objects are stored. Exits with 3 if one of its certificates has expired or is not valid yet, otherwise with 1 if the server is not ready.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Status)
    const {loadPlane} = await import('../control-plane/config/stored.ts')
    const {readStatus} = await import('../control-plane/status.ts')
    const {isOutOfDate} = await import('../control-plane/expiration.ts')
    const {statusView} = await import('../cli/views/status.ts')
    const report = await readStatus(await loadPlane(dirOf(flags.dir)), this.clock)
    await this.print(report, flags.output, statusView)
    if (isOutOfDate(report.certificates)) this.endWith(EXIT.notTrusted)
    else if (!report.server.ready) this.endWith(EXIT.failed)
  }
}
