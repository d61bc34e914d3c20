import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, wideOutput} from '../../cli/flags.ts'

export default class CertificateUnrevoke extends TrustCommand {
  static override summary = 'accept revoked certificates again'
  static override description =
    'Takes certificates off the list of revoked ones: the server accepts them again at once, if they have not expired. A target that is not on the list is an error, and nothing is changed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-csr-3Q2d',
    '<%= config.bin %> <%= command.id %> --node worker-1',
  ]
  static override args = {
    certificate: Args.string({
      multiple: true,
      ignoreStdin: true,
      description:
        'the names of requests, or serial numbers, as "certificate list --revoked" shows them',
    }),
  }
  static override flags = {
    ...clusterFlags,
    node: Flags.string({helpValue: '<name>', summary: 'all certificates of this node'}),
    pin: Flags.string({helpValue: '<sha256:…>', summary: 'the key with this pin'}),
    'dry-run': dryRun,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(CertificateUnrevoke)
    const {requireRevocations} = await import('../../control-plane/revocation/list-store.ts')
    const {unrevokeCertificates} = await import('../../control-plane/revocation/unrevoke.ts')
    const {unrevokedView} = await import('../../cli/views/revocations.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {plainName} = await import('../../control-plane/requests/names.ts')
    const {REQUEST_PIN, parsePin} = await import('../../pki/pins.ts')
    const {node, 'dry-run': isDryRun} = flags
    const pin = flags.pin === undefined ? undefined : parsePin(flags.pin, REQUEST_PIN)
    const done = await withCluster(flags, async ({client}) => {
      await requireRevocations(client)
      const targets = {names: (argv as string[]).map(plainName), node, pin}
      return await unrevokeCertificates(client, targets, {dryRun: isDryRun})
    })
    await this.print(done, flags.output, unrevokedView(isDryRun))
  }
}
