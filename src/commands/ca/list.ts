import {TrustCommand} from '../../cli/command.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'

export default class CaList extends TrustCommand {
  static override summary = "list the control plane's CAs"
  static override description =
    'Shows every certificate of every CA, with its pin, when it expires, and its generation (GEN): the first CA is 1, and each rotation adds one. The first certificate of a CA signs; while CAs rotate, others are trusted beside it. JSON also tells what each CA signs and what it is trusted for.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(CaList)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {listAuthorities} = await import('../../control-plane/ca-rotation/authorities.ts')
    const {authorityListView} = await import('../../cli/views/authorities.ts')
    const authorities = await listAuthorities(await loadPlane(dirOf(flags.dir)), this.clock)
    await this.print({authorities}, flags.output, authorityListView)
  }
}
