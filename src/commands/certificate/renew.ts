import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'

export default class Renew extends TrustCommand {
  static override summary = "renew the control plane's certificates"
  static override description = `Replaces a certificate and its key, no matter how long the old one is still valid; "all" renews every certificate. A running server switches to the new certificates without downtime.
CAs are not renewed.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> all',
    '<%= config.bin %> <%= command.id %> apiserver',
    '<%= config.bin %> <%= command.id %> admin.conf',
  ]
  static override args = {
    name: Args.string({
      required: true,
      description: 'a certificate, as check-expiration names it, or "all"',
    }),
  }
  static override flags = {dir, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Renew)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {renewCertificates} = await import('../../control-plane/renew.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {renewalView} = await import('../../cli/views/renewal.ts')
    const {tell} = createProgress(flags)
    const plane = await loadPlane(dirOf(flags.dir))
    const report = await renewCertificates(plane, args.name, this.clock, tell)
    await this.print(report, flags.output, renewalView)
  }
}
