import * as Args from '@oclif/core/args'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, wideOutput, yes} from '../../cli/flags.ts'
import {decisionFlags} from '../../cli/request-flags.ts'

export default class CertificateApprove extends TrustCommand {
  static override summary = 'approve certificate requests'
  static override description = `Whoever made a request then gets its certificate from the signer. On a terminal it is shown who asks for what, and you are asked; --yes goes without.
One that is approved already is left as it is, unless --force writes reason and message anew; one that is denied is an error. One that fails does not keep the others from being approved: what was done is on the standard output, the failures on the standard error, and the exit code is that of the failure, or 1 where they are of several kinds.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-csr-3Q2d',
    '<%= config.bin %> <%= command.id %> --selector team=web --reason Reviewed --message "seen by ada"',
    '<%= config.bin %> <%= command.id %> --filename requests.yaml --dry-run',
  ]
  static override args = {
    name: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'the names of the requests',
    }),
  }
  static override flags = {
    ...clusterFlags,
    ...decisionFlags,
    yes,
    'dry-run': dryRun,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(CertificateApprove)
    const {decideRequests} = await import('../../cli/decide-requests.ts')
    const {decidedView} = await import('../../cli/views/requests-done.ts')
    const {failureOf} = await import('../../control-plane/requests/decide.ts')
    const names = argv as string[]
    const decided = await decideRequests('approve', {...flags, names}, this.clock)
    if (!decided) {
      process.stderr.write('Nothing was approved.\n')
      return this.endWith(1)
    }
    const failure = failureOf(decided)
    if (!failure || decided.requests.length > 0) {
      await this.print(decided, flags.output, decidedView)
    }
    if (failure) throw failure
  }
}
