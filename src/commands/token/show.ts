import * as Args from '@oclif/core/args'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'

export default class TokenShow extends TrustCommand {
  static override summary = 'show a bootstrap token, and which machines joined with it'
  static override description =
    'Shows the token without its secret, its requests that wait, and every machine and certificate that was obtained with it, renewals included. The machines come from the issuance log, so run this on the machine of the control plane. Works for deleted tokens that were used too.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 0k2f5a',
    '<%= config.bin %> <%= command.id %> 0k2f5a --output json',
  ]
  static override args = {
    token: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'the id of the token, which is the part before its dot, or the whole token',
    }),
  }
  static override flags = {...clusterFlags, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(TokenShow)
    const {parseTokenId} = await import('../../bootstrap/token.ts')
    const {showToken} = await import('../../control-plane/token-show.ts')
    const {findLocalPlane} = await import('../../cli/local-plane.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {tokenView} = await import('../../cli/views/token-show.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const id = parseTokenId(args.token)
    const {warn} = createProgress(flags)
    const {log} = await findLocalPlane(flags)
    const shown = await withCluster(flags, ({client}) =>
      showToken(client, id, {log, warn, clock: this.clock}),
    )
    await this.print(shown, flags.output, tokenView)
  }
}
