import {clusterFlags} from '../../cli/cluster.ts'
import {DecideCommand} from '../../cli/requests/decide-command.ts'
import {dryRun, wideOutput, yes} from '../../cli/flags.ts'
import {decisionFlags, requestNames} from '../../cli/requests/flags.ts'

export default class CertificateDeny extends DecideCommand {
  static override summary = 'deny certificate requests'
  static override description = `A denied request never gets a certificate. A request that is already denied is left as it is, unless --force replaces reason and message; one that is approved is an error. If one fails, the others are still denied: what was done is on the standard output, the failures are on the standard error, and the exit code is that of the failure, or 1 if they are of several kinds.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-csr-3Q2d --message "this machine is not ours"',
    '<%= config.bin %> <%= command.id %> one another --dry-run',
  ]
  static override args = {name: requestNames}
  static override flags = {
    ...clusterFlags,
    ...decisionFlags,
    yes: {...yes, summary: 'accepted as by approve; a denial is never confirmed'},
    'dry-run': dryRun,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(CertificateDeny)
    await this.decide('deny', {...flags, names: argv as string[], yes: true})
  }
}
