import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {wideOutput} from '../../cli/flags.ts'

export default class CertificateAllowRejoin extends TrustCommand {
  static override summary = 'let a machine with a new key join under the name of a node'
  static override description =
    'A request for the name of a node that is there, or that has a valid certificate, is left to a person: whoever has a bootstrap token could otherwise take over any node. After this, the next such request for the name is approved by itself, once, until the time is over. Use it when a machine was set up anew.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> worker-1',
    '<%= config.bin %> <%= command.id %> worker-1 --ttl 10m',
    '<%= config.bin %> <%= command.id %> worker-1 --revoke',
  ]
  static override args = {
    node: Args.string({required: true, ignoreStdin: true, description: 'the name of the node'}),
  }
  static override flags = {
    ...clusterFlags,
    ttl: Flags.string({
      helpValue: '<duration>',
      default: '1h',
      summary: 'how long it is allowed, as in "30m"',
    }),
    revoke: Flags.boolean({summary: 'take it back'}),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CertificateAllowRejoin)
    const {allowRejoin, rejoinTtl, revokeRejoin} =
      await import('../../control-plane/requests/rejoin.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {rejoinView} = await import('../../cli/views/requests-done.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const ttl = rejoinTtl(flags.ttl)
    const grant = await withCluster(flags, ({client}) =>
      flags.revoke
        ? revokeRejoin(client, args.node)
        : allowRejoin(client, args.node, ttl, this.clock),
    )
    await this.print(grant, flags.output, rejoinView)
    if (!flags.revoke) {
      createProgress(flags).tell(
        `take it back with "trustadm certificate allow-rejoin ${args.node} --revoke"`,
      )
    }
  }
}
