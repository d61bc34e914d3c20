import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'
import {kubeadmFolderFlags, kubeadmFolders} from '../../cli/kubeadm-flags.ts'

export default class Renew extends TrustCommand {
  static override summary = "renew the control plane's certificates"
  static override description = `Replaces a certificate and its key, no matter how long the old one is still valid; "all" renews every certificate. A running server switches to the new certificates without downtime.
CAs are not renewed.
With --cert-dir or --kubeconfig-dir, it renews certificates of a control plane that kubeadm made, with the subject, the names and the kind of key of the old ones.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> all',
    '<%= config.bin %> <%= command.id %> apiserver',
    '<%= config.bin %> <%= command.id %> admin.conf',
    '<%= config.bin %> <%= command.id %> all --cert-dir /etc/kubernetes/pki',
  ]
  static override args = {
    name: Args.string({
      required: true,
      description: 'a certificate, as check-expiration names it, or "all"',
    }),
  }
  static override flags = {dir, ...kubeadmFolderFlags, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Renew)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {renewCertificates} = await import('../../control-plane/renew.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {renewalView} = await import('../../cli/views/renewal.ts')
    const {tell} = createProgress(flags)
    const {renewKubeadmCertificates} = await import('../../control-plane/kubeadm-folders/renew.ts')
    const folders = kubeadmFolders(flags)
    const report = folders
      ? await renewKubeadmCertificates(folders, args.name, this.clock, tell)
      : await renewCertificates(await loadPlane(dirOf(flags.dir)), args.name, this.clock, tell)
    await this.print(report, flags.output, renewalView)
  }
}
