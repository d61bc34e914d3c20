import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'
import {NodeStatusBase} from '../cli/node/status-command.ts'
import {EXIT} from '../errors.ts'

export default class Status extends NodeStatusBase {
  static override summary = 'show what runs, what is stored and what expires'
  static override description =
    'Shows the control plane of this machine: its server, its certificates and how many objects are stored. Exits with 3 if one of its certificates has expired or is not valid yet, otherwise with 1 if the server is not ready. In the folder of a node, this is "node status".'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Status)
    const dir = dirOf(flags.dir)
    const {isFolderOfNode} = await import('../cli/node/node-instead.ts')
    if (await isFolderOfNode(dir)) return await this.showNode(dir, flags)
    const {loadPlane} = await import('../control-plane/config/stored.ts')
    const {readStatus} = await import('../control-plane/status.ts')
    const {isOutOfDate} = await import('../control-plane/expiration.ts')
    const {statusView} = await import('../cli/views/status.ts')
    const report = await readStatus(await loadPlane(dir), this.clock)
    await this.print(report, flags.output, statusView)
    if (isOutOfDate(report.certificates)) this.endWith(EXIT.notTrusted)
    else if (!report.server.ready) this.endWith(EXIT.failed)
  }
}
