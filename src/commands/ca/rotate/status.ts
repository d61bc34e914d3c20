import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../../cli/command.ts'
import {dir, output} from '../../../cli/flags.ts'
import {kubeconfig} from '../../../cli/rotation/session.ts'

export default class CaRotateStatus extends TrustCommand {
  static override summary =
    'show how far the rotation of the CAs is, and who still depends on old ones'
  static override description = `Shows the phase, every step, the old and the new CAs, and who would be locked out by "ca rotate complete", the most urgent first, with what to do; after "complete", which nodes still trust an old CA. Of many of one kind, only the first are named; --all names each, and so does --output json, which has them in groups as well. The ConfigMap kube-system/trustadm-ca-rotation shows the same to programs.

With --watch it shows each change, and ends when the command that is under way has nothing left to do: after "start", once every node has followed. With --output json as well, it prints one object a line: "event" is "step", "waiting" or "finished". The remaining time is derived from the nodes that were seen to change, and is unknown until then.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --all',
    '<%= config.bin %> <%= command.id %> --output json',
    '<%= config.bin %> <%= command.id %> --watch',
  ]
  static override flags = {
    dir,
    kubeconfig,
    all: Flags.boolean({
      summary: 'name everyone who still depends on old CAs, not only the first of each group',
    }),
    watch: Flags.boolean({
      char: 'w',
      summary: 'show changes until the command that is under way is finished',
    }),
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CaRotateStatus)
    const {openRotation} = await import('../../../cli/rotation/session.ts')
    const {reportRotation} = await import('../../../control-plane/ca-rotation/report.ts')
    const {rotationEndView, rotationView} = await import('../../../cli/views/ca-rotation.ts')
    const {context, progress} = await openRotation(flags, this.clock)
    const read = () => reportRotation(context)
    if (!flags.watch)
      return await this.print(
        await read(),
        flags.output,
        rotationView(context.plane.dir, flags.all),
      )
    const {watchRotation} = await import('../../../cli/rotation/follow.ts')
    const report = await watchRotation(read, progress, flags.output, this.clock)
    if (report)
      await this.print(report, flags.output, rotationEndView(context.plane.dir, flags.all))
  }
}
