import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'
import {inventory, machineNames, namespace} from '../../cli/machine-flags.ts'

export default class MachineRenew extends TrustCommand {
  static override summary = 'expect machines again, for two hours from now'
  static override description = `For machines that did not join in time, or that were reinstalled; with --filename, for all machines of an inventory. A machine that was a node before needs two more steps, because someone else could have its key: delete its Node first, and then allow its name to be taken over with "certificate allow-rejoin", as long as its old certificate is valid.
A request that was made before is not approved by it: approve that one with "certificate approve".`
  static override examples = [
    '<%= config.bin %> <%= command.id %> worker-1',
    '<%= config.bin %> <%= command.id %> worker-1 worker-2 --output json',
    '<%= config.bin %> <%= command.id %> --filename inventory.csv',
  ]
  static override args = {name: machineNames}
  static override flags = {...clusterFlags, filename: inventory, namespace, output}

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(MachineRenew)
    const {renewMachines} = await import('../../control-plane/machines/renew.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {isIncomplete, renewedMachinesView} = await import('../../cli/views/machines.ts')
    const {machineNamesOf} = await import('../../cli/machine-names.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const names = await machineNamesOf(argv as string[], flags)
    const commandFor = (command: string) => clusterCommand(flags, command)
    const renewed = await withCluster(flags, ({client}) =>
      renewMachines(client, names, {namespace: flags.namespace, commandFor}, this.clock),
    )
    await this.print(renewed, flags.output, renewedMachinesView)
    const {warn} = createProgress(flags)
    for (const name of renewed.machines.flatMap(({taken}) => taken)) {
      const allow = commandFor(`certificate allow-rejoin ${name}`)
      warn(
        `a certificate for node "${name}" is still valid; to let the machine take the name over, run "${allow}"`,
      )
    }
    if (isIncomplete(renewed)) this.endWith(1)
  }
}
