import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {isForPeople, wideOutput} from '../../cli/flags.ts'

export default class MachineList extends TrustCommand {
  static override summary = 'list the machines of the inventory'
  static override description =
    'Shows the Machines of all namespaces, because the machine approver reads them all. A machine has joined, is expected now, is not expected yet (early) or no longer (overdue), or is incomplete: it has no DNS name under which it could join.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output wide',
    {
      description: 'Expect all machines again that did not join in time:',
      command: `<%= config.bin %> <%= command.id %> -o json | jq -r '.machines[] | select(.state=="overdue") | .namespace+"/"+.name' | xargs <%= config.bin %> machine renew`,
    },
  ]
  static override flags = {
    ...clusterFlags,
    namespace: Flags.string({
      char: 'n',
      helpValue: '<namespace>',
      summary: 'only Machines of this namespace',
    }),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(MachineList)
    const {listMachines} = await import('../../control-plane/machines/list.ts')
    const {machineListView} = await import('../../cli/views/machines.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const list = await withCluster(flags, ({client}) =>
      listMachines(client, flags.namespace, this.clock),
    )
    await this.print(list, flags.output, machineListView(flags.output === 'wide', this.clock.now()))
    if (list.machines.length > 0 || !isForPeople(flags.output)) return
    const {createProgress} = await import('../../cli/progress.ts')
    const create = clusterCommand(flags, 'machine create')
    createProgress(flags).tell(`no machines found; add one with "${create}"`)
  }
}
