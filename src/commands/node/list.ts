import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {isForPeople, wideOutput} from '../../cli/flags.ts'

export default class NodeList extends TrustCommand {
  static override summary = 'list the nodes of a cluster with their certificates'
  static override description = `For operators: shows every node with the time until its certificate expires, when it was last renewed, its CA, how many CAs the node trusts, and what is wrong; the worst first. Works with any cluster.
What a node uses and trusts is what it reports itself, in an annotation of its Node: "node run" does that. If a node does not report, or got another certificate later, its certificate is taken from the issuance log, if that is on this machine, from its requests, or from the record of its name.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output wide',
    '<%= config.bin %> <%= command.id %> --kubeconfig ~/.kube/config --output json',
  ]
  static override flags = {...clusterFlags, output: wideOutput}

  async run(): Promise<void> {
    const {flags} = await this.parse(NodeList)
    const {listNodes} = await import('../../control-plane/nodes/list.ts')
    const {findLocalPlane} = await import('../../cli/local-plane.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {nodeListView} = await import('../../cli/views/nodes.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {tell, warn} = createProgress(flags)
    const commandFor = (command: string) => clusterCommand(flags, command)
    const {log} = await findLocalPlane(flags)
    const list = await withCluster(flags, ({client}) =>
      listNodes({client, log, warn, commandFor}, this.clock),
    )
    await this.print(list, flags.output, nodeListView(flags.output === 'wide', this.clock.now()))
    if (list.nodes.length === 0 && isForPeople(flags.output)) {
      const create = commandFor('token create --print-join-command')
      tell(`no nodes found; to add one, run "${create}"`)
    }
  }
}
