import {TrustCommand} from '../../../cli/command.ts'
import {dir, dryRun, output, yes} from '../../../cli/flags.ts'
import {ignoringFlags, kubeconfig, wait} from '../../../cli/rotation/session.ts'

export default class CaRotateAbort extends TrustCommand {
  static override summary = 'go back to the old CAs before the rotation is completed'
  static override description = `Undoes "ca rotate start" as carefully as it was done: signs with the old CAs again, renews the control plane's certificates, waits until no node and no client depends on the new CAs, then distrusts and destroys those. Without --wait, it stops at the first one that has to be waited for; run it again to continue. Possible until "ca rotate complete" begins to end the trust in the old CAs.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --wait',
    '<%= config.bin %> <%= command.id %> --ignore worker-7',
  ]
  static override flags = {dir, kubeconfig, ...ignoringFlags, wait, 'dry-run': dryRun, yes, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(CaRotateAbort)
    const {openRotation} = await import('../../../cli/rotation/session.ts')
    const {runRotation} = await import('../../../cli/rotation/run.ts')
    const session = await openRotation(flags, this.clock)
    const question = 'Go back to the old CAs and destroy the new ones?'
    const options = {wait: flags.wait}
    const done = await runRotation(session, 'abort', {options, flags, question})
    process.stdout.write(done.text)
    this.endWith(done.exitCode)
  }
}
