import {dir, dryRun, output, yes} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'
import {LeaveCommand} from '../cli/node/leave-command.ts'

export default class Reset extends LeaveCommand {
  static override summary = 'stop the server and remove the control plane of this machine'
  static override description = `Removes what trustadm wrote: the store with everything in it, certificates, keys and kubeconfig files. It removes only files that it made and that have not been changed since. Certificates, keys and CAs that you provided stay, and so do other files in the same folders.
This cannot be undone. Asks first, unless --yes is given. In the folder of a node, this is "node leave".`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --yes',
  ]
  static override flags = {dir, yes, 'dry-run': dryRun, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Reset)
    const {loadPlane} = await import('../control-plane/config/stored.ts')
    const {planReset, reset} = await import('../control-plane/reset.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const {resetPlanView, resetView} = await import('../cli/views/reset.ts')
    const dir = dirOf(flags.dir)
    const {isFolderOfNode} = await import('../cli/node/node-instead.ts')
    if (await isFolderOfNode(dir)) return await this.leave(dir, flags)
    const plane = await loadPlane(dir)
    const plan = await planReset(plane)
    if (flags['dry-run']) return await this.print(plan, flags.output, resetPlanView)

    const {confirm} = await import('../cli/prompt.ts')
    const question = `Remove the control plane in ${plane.dir} and everything stored in it?`
    if (!flags.yes && !(await confirm(question))) {
      process.stderr.write('Nothing was changed.\n')
      return this.endWith(1)
    }
    const {tell} = createProgress(flags)
    await this.print(await reset(plane, tell), flags.output, resetView)
  }
}
