import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'

export default class Start extends TrustCommand {
  static override summary = 'start the server of a control plane in the background'
  static override description = `Starts what "init" has set up and waits until it is ready. Does nothing if the server is running.
If "init --systemd" has installed a unit, use systemctl instead: this command says how.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --dir /srv/plane --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Start)
    const {startService} = await import('../control-plane/service.ts')
    const {serviceView} = await import('../cli/views/service.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const {ownProgram} = await import('../cli/own-program.ts')
    const {tell} = createProgress(flags)
    const report = await startService(dirOf(flags.dir), {program: ownProgram(), tell})
    await this.print(report, flags.output, serviceView)
  }
}
