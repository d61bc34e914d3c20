import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'

export default class Stop extends TrustCommand {
  static override summary = 'stop the background server of a control plane'
  static override description = `Lets requests in flight finish, ends the server and waits until it has ended, up to 60 s. Does nothing if the server is not running.
A server in the foreground or under systemd is left alone: this command says how to stop it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --dir /srv/plane --output json',
  ]
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Stop)
    const {stopService} = await import('../control-plane/service.ts')
    const {serviceView} = await import('../cli/views/service.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const {tell} = createProgress(flags)
    await this.print(await stopService(dirOf(flags.dir), tell), flags.output, serviceView)
  }
}
