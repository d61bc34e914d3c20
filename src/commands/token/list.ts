import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {isForPeople, wideOutput} from '../../cli/flags.ts'

export default class TokenList extends TrustCommand {
  static override summary = 'list the bootstrap tokens of a cluster'
  static override description =
    'Shows all tokens, including expired ones. On a terminal their secrets are hidden. Secrets in the cluster that are not valid tokens, but should be, are listed on the standard error.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --show-secrets',
    {
      description: 'Delete all of them:',
      command:
        '<%= config.bin %> <%= command.id %> --output name | xargs <%= config.bin %> token delete',
    },
  ]
  static override flags = {
    ...clusterFlags,
    'show-secrets': Flags.boolean({
      summary: 'show the secrets on a terminal too',
    }),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(TokenList)
    const {listTokens} = await import('../../control-plane/tokens/list.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {tokenListView} = await import('../../cli/views/tokens.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {tell, warn} = createProgress(flags)
    const options = {showSecrets: flags['show-secrets'] || !process.stdout.isTTY, warn}
    const list = await withCluster(flags, ({client}) => listTokens(client, options, this.clock))
    await this.print(list, flags.output, tokenListView(flags.output === 'wide'))
    if (flags.output === 'table') {
      for (const {id, problems} of list.tokens.filter((one) => one.problems.length > 0))
        warn(`the server refuses the token "${id}": ${problems.join('; ')}`)
    }
    if (list.tokens.length === 0 && isForPeople(flags.output)) {
      tell(`no tokens found; create one with "${clusterCommand(flags, 'token create')}"`)
    }
  }
}
