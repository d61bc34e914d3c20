import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'

export default class CaShow extends TrustCommand {
  static override summary = 'show one CA: what it signs, and what it is trusted for'
  static override description =
    'Shows the certificates of the CA, the certificates of the control plane and the signers of requests that it signs for, and what programs trust it for.'
  static override examples = ['<%= config.bin %> <%= command.id %> client-ca']
  static override args = {
    name: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'a CA, as "ca list" names it',
    }),
  }
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CaShow)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {showAuthority} = await import('../../control-plane/ca-rotation/authorities.ts')
    const {authorityView} = await import('../../cli/views/authorities.ts')
    const plane = await loadPlane(dirOf(flags.dir))
    await this.print(await showAuthority(plane, args.name, this.clock), flags.output, authorityView)
  }
}
