import * as Args from '@oclif/core/args'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {wideOutput} from '../../cli/flags.ts'

export default class CertificateShow extends TrustCommand {
  static override summary = 'show a certificate request, and what the approvers think of it'
  static override description =
    'Decodes the request: who requests which subject and names, with which key, for what and for how long. Then, rule by rule, what each approver of trustadm thinks of it and whether its signer permits it; then the certificate, if there is one. Changes nothing.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-csr-3Q2d',
    '<%= config.bin %> <%= command.id %> node-csr-3Q2d --output json',
  ]
  static override args = {
    name: Args.string({required: true, ignoreStdin: true, description: 'the name of the request'}),
  }
  static override flags = {...clusterFlags, output: wideOutput}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CertificateShow)
    const {showRequest} = await import('../../control-plane/requests/show.ts')
    const {pairingIn} = await import('../../control-plane/requests/pairing.ts')
    const {requestView} = await import('../../cli/views/requests-show.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const report = await withCluster(flags, ({client, access}) =>
      showRequest(client, args.name, this.clock, pairingIn(client, access.ca)),
    )
    await this.print(report, flags.output, requestView(flags.output === 'wide', this.clock.now()))
  }
}
