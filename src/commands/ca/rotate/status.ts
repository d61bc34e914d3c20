import {TrustCommand} from '../../../cli/command.ts'
import {dir, output} from '../../../cli/flags.ts'
import {kubeconfig} from '../../../cli/rotation/session.ts'

export default class CaRotateStatus extends TrustCommand {
  static override summary =
    'show how far the rotation of the CAs is, and who still depends on old ones'
  static override description =
    'Shows the phase, every step, the old and the new CAs, and who would be locked out by "ca rotate complete", the most urgent first, with what to do about each. The ConfigMap kube-system/trustadm-ca-rotation shows the same to programs.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
  ]
  static override flags = {dir, kubeconfig, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(CaRotateStatus)
    const {openRotation} = await import('../../../cli/rotation/session.ts')
    const {reportRotation} = await import('../../../control-plane/ca-rotation/report.ts')
    const {rotationView} = await import('../../../cli/views/ca-rotation.ts')
    const {context} = await openRotation(flags, this.clock)
    await this.print(await reportRotation(context), flags.output, rotationView)
  }
}
