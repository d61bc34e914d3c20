import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output} from '../../cli/flags.ts'
import {inventory, machineNames, namespace} from '../../cli/machine-flags.ts'

export default class MachineDelete extends TrustCommand {
  static override summary = 'remove machines from the inventory'
  static override description =
    'A machine that has not joined can no longer join without a person. One that has joined stays a node, but its Machine no longer vouches for the addresses in its serving certificate. A Machine that a machine controller manages is deleted only with --force, because the controller may destroy the machine. With --filename it removes all machines of an inventory.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> worker-1',
    '<%= config.bin %> <%= command.id %> kube-system/worker-1 kube-system/worker-2 --dry-run',
    '<%= config.bin %> <%= command.id %> --filename inventory.csv',
  ]
  static override args = {name: machineNames}
  static override flags = {
    ...clusterFlags,
    filename: inventory,
    namespace,
    force: Flags.boolean({summary: 'delete Machines that a machine controller manages too'}),
    'dry-run': dryRun,
    output,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(MachineDelete)
    const {deleteMachines} = await import('../../control-plane/machines/delete.ts')
    const {deletedMachinesView, isIncomplete} = await import('../../cli/views/machines.ts')
    const {machineNamesOf} = await import('../../cli/machine-names.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const names = await machineNamesOf(argv as string[], flags)
    const {force, namespace: where} = flags
    const commandFor = (command: string) => clusterCommand(flags, command)
    const options = {namespace: where, force, dryRun: flags['dry-run'], commandFor}
    const deleted = await withCluster(flags, ({client}) => deleteMachines(client, names, options))
    await this.print(deleted, flags.output, deletedMachinesView)
    if (isIncomplete(deleted)) this.endWith(1)
  }
}
