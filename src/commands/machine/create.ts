import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, wideOutput} from '../../cli/flags.ts'
import {inventory, namespace} from '../../cli/machine-flags.ts'

const BY_FILE = ['dns', 'address', 'provider-id']

export default class MachineCreate extends TrustCommand {
  static override summary = 'add machines to the inventory, so that they may join'
  static override description = `Creates Machines. For two hours the machine approver lets a machine join under the DNS name of its Machine, with a bootstrap credential and without a person.

With --filename it creates all machines of an inventory: a CSV table whose first line names the columns, or a YAML or JSON list. The fields are name, namespace, dns, addresses and providerID; only name is required. Everything is checked before the first Machine is created, and each problem is reported with its line. If a run is interrupted, run it again: it completes what is missing and changes nothing that exists.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> worker-1 --dns worker-1.example.com --address 10.0.0.11',
    '<%= config.bin %> <%= command.id %> --filename inventory.csv --dry-run',
    {
      description: 'An inventory from another program:',
      command: 'list-machines --json | <%= config.bin %> <%= command.id %> --filename -',
    },
  ]
  static override args = {
    name: Args.string({ignoreStdin: true, description: 'the name of the Machine'}),
  }
  static override flags = {
    ...clusterFlags,
    filename: {...inventory, exclusive: BY_FILE},
    dns: Flags.string({
      helpValue: '<names>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      summary: 'names under which the machine may join; may be repeated [default: its name]',
    }),
    address: Flags.string({
      helpValue: '<addresses>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      summary: 'IP addresses for its serving certificate; may be repeated',
    }),
    'provider-id': Flags.string({
      helpValue: '<id>',
      summary: "the machine's id at its provider",
    }),
    namespace,
    'dry-run': dryRun,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(MachineCreate)
    const {createMachinesOf} = await import('../../cli/create-machines.ts')
    const {createdMachinesView, isIncomplete} = await import('../../cli/views/machines.ts')
    const created = await createMachinesOf({...flags, name: args.name})
    await this.print(created, flags.output, createdMachinesView)
    if (isIncomplete(created)) this.endWith(1)
  }
}
