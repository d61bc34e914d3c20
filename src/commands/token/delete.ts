import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output, yes} from '../../cli/flags.ts'
import type {WithMachinesFlags} from '../../cli/with-machines.ts'

export default class TokenDelete extends TrustCommand {
  static override summary = 'delete bootstrap tokens of a cluster'
  static override description =
    "Nobody can authenticate with a deleted token, and its signature is removed from cluster-info. Machines that have joined stay. A token that does not exist is an error; the others are still deleted. A whole token with another secret than the stored one deletes nothing.\nWith --with-machines, also revokes every certificate that was obtained with the tokens, and those obtained with these in turn, and cordons the Nodes of these machines; delete the Nodes yourself. This works for tokens too that expired or were deleted before. Run it on the machine of the control plane: its issuance log names all certificates. Asks first. Only with trustadm's own server."
  static override examples = [
    '<%= config.bin %> <%= command.id %> 0k2f5a',
    '<%= config.bin %> <%= command.id %> 0k2f5a x7c9q1 --dry-run',
    '<%= config.bin %> <%= command.id %> 0k2f5a --with-machines',
  ]
  static override args = {
    token: Args.string({
      required: true,
      multiple: true,
      ignoreStdin: true,
      description: 'the id of a token, which is the part before its dot, or the whole token',
    }),
  }
  static override flags = {
    ...clusterFlags,
    'with-machines': Flags.boolean({
      summary: 'also revoke the certificates of machines that joined with the tokens',
    }),
    yes,
    'dry-run': dryRun,
    output,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(TokenDelete)
    const {deleteTokens, parseTokenIds, requireSameTokens} =
      await import('../../control-plane/tokens/delete.ts')
    const {deletedTokensView} = await import('../../cli/views/tokens.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const names = argv as string[]
    const ids = parseTokenIds(names)
    if (flags['with-machines']) return await this.deleteWithMachines(names, flags)
    const deleted = await withCluster(flags, async ({client}) => {
      await requireSameTokens(client, names, this.clock.now())
      return await deleteTokens(client, ids, {dryRun: flags['dry-run']})
    })
    await this.print(deleted, flags.output, deletedTokensView(flags['dry-run']))
  }

  private async deleteWithMachines(
    names: readonly string[],
    flags: WithMachinesFlags & {output: string},
  ): Promise<void> {
    const {deleteTokens, parseTokenIds, requireSameTokens} =
      await import('../../control-plane/tokens/delete.ts')
    const {withdrawAll} = await import('../../cli/with-machines.ts')
    const {withdrawnView} = await import('../../cli/views/revocations.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const ids = parseTokenIds(names)
    const credentials = ids.map((tokenId) => ({
      credential: {tokenId},
      reason: `joined with the token ${tokenId}`,
    }))
    const done = await withCluster(flags, async (cluster) => {
      await requireSameTokens(cluster.client, names, this.clock.now())
      return await withdrawAll(cluster, credentials, flags, {
        withdraw: () => deleteTokens(cluster.client, ids, {mayBeMissing: true}),
        clock: this.clock,
      })
    })
    if (!done) {
      process.stderr.write('Nothing was changed.\n')
      return this.endWith(1)
    }
    await this.print({...done, deleted: ids}, flags.output, withdrawnView(flags['dry-run']))
  }
}
