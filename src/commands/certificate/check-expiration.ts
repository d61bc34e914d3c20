import {TrustCommand} from '../../cli/command.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'

export default class CheckExpiration extends TrustCommand {
  static override summary = "show when the control plane's certificates expire"
  static override description =
    'Lists every certificate and every CA of the control plane with its expiry date and its problems. Changes nothing.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(CheckExpiration)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {checkExpiration} = await import('../../control-plane/expiration.ts')
    const {expirationView} = await import('../../cli/views/expiration.ts')
    const report = await checkExpiration(await loadPlane(dirOf(flags.dir)), this.clock)
    await this.print(report, flags.output, expirationView)
  }
}
