import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'

export default class Restart extends TrustCommand {
  static override summary = 'restart the background server of a control plane'
  static override description = `Checks that the server can start again, stops it, starts it and waits until it is ready. Requests in flight finish first, and nothing acknowledged is lost. Starts a server that is not running.
A server in the foreground or under systemd is left alone: this command says how to restart it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --dir /srv/plane --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Restart)
    const {restartService} = await import('../control-plane/service.ts')
    const {serviceView} = await import('../cli/views/service.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const {ownProgram} = await import('../cli/own-program.ts')
    const {tell} = createProgress(flags)
    const report = await restartService(dirOf(flags.dir), {program: ownProgram(), tell})
    await this.print(report, flags.output, serviceView)
  }
}
