import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../../cli/command.ts'
import {dir, dryRun, output, yes} from '../../../cli/flags.ts'
import {ignoringFlags, kubeconfig, wait} from '../../../cli/rotation/session.ts'

export default class CaRotateComplete extends TrustCommand {
  static override summary = 'end the trust in the old CAs and destroy their keys'
  static override description = `The second of two steps that replace every CA. Refuses to run while a node or a client depends on an old CA, and names them with what to do. Nobody knows who has copies of admin.conf and of the other files that "ca rotate start" has replaced: --ignore replaced-here says that you have dealt with them. Then servers get certificates of the new CA, trust in the old ones ends everywhere, also on open connections, and their keys are destroyed; their certificates are kept in "archive" beside the new ones. The rotation is Completed once no node trusts an old CA any longer: nodes with "trustadm node run" follow automatically within 10 minutes, "ca rotate status" names the others. Delete the Nodes of machines that are gone, or run this again with --ignore or --force.

With --grace, clients that know only the old CA can still verify the server for that long; their own certificates of the old CA are refused. Interrupt it at any time and run it again: it resumes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --ignore replaced-here',
    '<%= config.bin %> <%= command.id %> --ignore replaced-here,worker-7 --ignore-unseen-since 7d',
    '<%= config.bin %> <%= command.id %> --ignore replaced-here --grace 24h --yes',
  ]
  static override flags = {
    dir,
    kubeconfig,
    grace: Flags.string({
      helpValue: '<duration>',
      summary: 'how long clients that know only the old CA can still verify the server',
    }),
    ...ignoringFlags,
    wait,
    'dry-run': dryRun,
    yes,
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CaRotateComplete)
    const {openRotation} = await import('../../../cli/rotation/session.ts')
    const {runRotation} = await import('../../../cli/rotation/run.ts')
    const {parseSpan} = await import('../../../bootstrap/durations.ts')
    const session = await openRotation(flags, this.clock)
    const grace = flags.grace === undefined ? undefined : parseSpan(flags.grace, '--grace')
    const question = 'End the trust in the old CAs and destroy their keys? This cannot be undone.'
    const options = {wait: flags.wait, grace}
    const done = await runRotation(session, 'complete', {options, flags, question})
    process.stdout.write(done.text)
    this.endWith(done.exitCode)
  }
}
