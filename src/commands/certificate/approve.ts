import {clusterFlags} from '../../cli/cluster.ts'
import {DecideCommand} from '../../cli/requests/decide-command.ts'
import {dryRun, wideOutput, yes} from '../../cli/flags.ts'
import {decisionFlags, requestNames} from '../../cli/requests/flags.ts'

export default class CertificateApprove extends DecideCommand {
  static override summary = 'approve certificate requests'
  static override description = `The signer then issues the certificate. On a terminal, shows who requests what, with the pairing words that the machine prints, and asks for confirmation, unless --yes is given.
A request that is already approved is left as it is, unless --force replaces reason and message; one that is denied is an error. If one fails, the others are still approved: what was done is on the standard output, the failures are on the standard error, and the exit code is that of the failure, or 1 if they are of several kinds.`
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
