import {TrustCommand} from '../cli/command.ts'
import {dir, dryRun, output, yes} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'

export default class Reset extends TrustCommand {
  static override summary = 'stop the server and remove the control plane of this machine'
  static override description = `Removes what trustadm wrote: the store with everything in it, certificates, keys and kubeconfig files. It removes only files that it made and that have not been changed since. Certificates, keys and CAs that you provided stay, and so do other files in the same folders.
This cannot be undone. Asks first, unless --yes is given.`
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
    const plane = await loadPlane(dirOf(flags.dir))
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
