import {clusterFlags} from '../../cli/cluster.ts'
import {DecideCommand} from '../../cli/requests/decide-command.ts'
import {dryRun, wideOutput, yes} from '../../cli/flags.ts'
import {decisionFlags, requestNames} from '../../cli/requests/flags.ts'

export default class CertificateApprove extends DecideCommand {
  static override summary = 'approve certificate requests'
  static override description = `Whoever made a request then gets its certificate from the signer. On a terminal it is shown who asks for what, and you are asked; --yes goes without.
One that is approved already is left as it is, unless --force replaces reason and message; one that is denied is an error. One that fails does not keep the others from being approved: what was done is on the standard output, the failures on the standard error, and the exit code is that of the failure, or 1 where they are of several kinds.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-csr-3Q2d',
    '<%= config.bin %> <%= command.id %> --selector team=web --reason Reviewed --message "seen by ada"',
    '<%= config.bin %> <%= command.id %> --filename requests.yaml --dry-run',
  ]
  static override args = {name: requestNames}
  static override flags = {
    ...clusterFlags,
    ...decisionFlags,
    yes,
    'dry-run': dryRun,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(CertificateApprove)
    await this.decide('approve', {...flags, names: argv as string[]})
  }
}
