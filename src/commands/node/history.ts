import * as Args from '@oclif/core/args'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'

export default class NodeHistory extends TrustCommand {
  static override summary = 'show what happened to the certificates of a node'
  static override description =
    'For operators: one timeline of a node, the oldest first: with which token or credential it joined, its requests, who approved them and why, the serial numbers, renewals, re-joins and revocations. For a request that waits, shows what each approver thinks of it, rule by rule. Comes from the API and, on the machine of the control plane, from the issuance log: elsewhere only the requests of the last hour are known.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> worker-1',
    '<%= config.bin %> <%= command.id %> worker-1 --output json',
  ]
  static override args = {
    node: Args.string({required: true, ignoreStdin: true, description: 'the name of the node'}),
  }
  static override flags = {...clusterFlags, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(NodeHistory)
    const {nodeHistory} = await import('../../control-plane/nodes/history.ts')
    const {findLocalPlane} = await import('../../cli/local-plane.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {nodeHistoryView} = await import('../../cli/views/nodes.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {warn} = createProgress(flags)
    const {log} = await findLocalPlane(flags)
    const history = await withCluster(flags, ({client}) =>
      nodeHistory(args.node, {client, log, warn}, this.clock),
    )
    await this.print(history, flags.output, nodeHistoryView)
  }
}
