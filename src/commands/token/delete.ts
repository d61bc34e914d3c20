import * as Args from '@oclif/core/args'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output} from '../../cli/flags.ts'

export default class TokenDelete extends TrustCommand {
  static override summary = 'delete bootstrap tokens of a cluster'
  static override description =
    'Nobody can authenticate with a deleted token, and its signature is removed from cluster-info. Machines that have joined stay. A token that does not exist is an error; the others are still deleted.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 0k2f5a',
    '<%= config.bin %> <%= command.id %> 0k2f5a x7c9q1 --dry-run',
  ]
  static override args = {
    token: Args.string({
      required: true,
      multiple: true,
      ignoreStdin: true,
      description: 'the id of a token, which is the part before its dot, or the whole token',
    }),
  }
  static override flags = {...clusterFlags, 'dry-run': dryRun, output}

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(TokenDelete)
    const {deleteTokens, parseTokenIds} = await import('../../control-plane/tokens/delete.ts')
    const {deletedTokensView} = await import('../../cli/views/tokens.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const ids = parseTokenIds(argv as string[])
    const deleted = await withCluster(flags, ({client}) =>
      deleteTokens(client, ids, {dryRun: flags['dry-run']}),
    )
    await this.print(deleted, flags.output, deletedTokensView(flags['dry-run']))
  }
}
