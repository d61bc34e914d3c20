import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'

export default class CertificateSimulate extends TrustCommand {
  static override summary = 'say what would happen if a machine joined now'
  static override description =
    'Runs the rules of csr-approver and machine-approver on a request that is not sent, for a machine with a new key, and shows the verdict of each rule, as "certificate show" does for a request that exists. Without --token-id and --credential it tries a token of the default group and every live bootstrap credential. On a cluster where kube-controller-manager approves, shows what that would do, and whether the machine would take over the name of a node. Exits with 1 if the machine would not get a certificate in any of these ways.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --node worker-1.example.com',
    '<%= config.bin %> <%= command.id %> --node worker-1 --token-id 0k2f5a',
    '<%= config.bin %> <%= command.id %> --node worker-1 --credential 3f9a0c2b71de --output json',
  ]
  static override flags = {
    ...clusterFlags,
    node: Flags.string({
      required: true,
      helpValue: '<name>',
      summary: 'the name under which the machine would join',
    }),
    'token-id': Flags.string({
      helpValue: '<id>',
      exclusive: ['credential'],
      summary: 'with this bootstrap token',
    }),
    credential: Flags.string({
      helpValue: '<id>',
      summary: 'with this bootstrap credential',
    }),
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CertificateSimulate)
    const {simulateJoin} = await import('../../control-plane/requests/simulate.ts')
    const {simulationView} = await import('../../cli/views/simulation.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {node, credential} = flags
    const options = {node, credential, tokenId: flags['token-id']}
    const simulation = await withCluster(flags, ({client}) =>
      simulateJoin(client, options, this.clock),
    )
    await this.print(simulation, flags.output, simulationView)
    if (!simulation.ways.some(({outcome}) => outcome === 'approved')) this.endWith(1)
  }
}
