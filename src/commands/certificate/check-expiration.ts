import {TrustCommand} from '../../cli/command.ts'
import {endingCheck, sayHowToRenew, within} from '../../cli/ending.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'
import {kubeadmFolderFlags, kubeadmFolders} from '../../cli/kubeadm-flags.ts'
import {EXIT} from '../../errors.ts'

export default class CheckExpiration extends TrustCommand {
  static override summary = "show when the control plane's certificates expire"
  static override description =
    'Lists every certificate and every CA of the control plane with its expiry date and its problems; of a file with several CAs, all of them. Warns a year before a CA ends. Exits with 3 if a certificate has expired or is not valid yet, and with 7 if one ends within the time of --within. Changes nothing. With --cert-dir or --kubeconfig-dir, of a control plane that kubeadm made.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
    '<%= config.bin %> <%= command.id %> --cert-dir /etc/kubernetes/pki',
    {
      description: 'In a daily job:',
      command: '<%= config.bin %> <%= command.id %> --within 30d --quiet || alert',
    },
  ]
  static override flags = {
    dir,
    ...kubeadmFolderFlags,
    within,
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CheckExpiration)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {checkExpiration, isOutOfDate} = await import('../../control-plane/expiration.ts')
    const {expirationView} = await import('../../cli/views/expiration.ts')
    const isEnding = await endingCheck(flags)
    const {checkKubeadmExpiration} =
      await import('../../control-plane/kubeadm-folders/kubeadm-plane.ts')
    const folders = kubeadmFolders(flags)
    const report = folders
      ? await checkKubeadmExpiration(folders, this.clock)
      : await checkExpiration(await loadPlane(dirOf(flags.dir)), this.clock)
    await this.print(report, flags.output, expirationView)
    if (isOutOfDate(report)) {
      await sayHowToRenew(flags, report)
      return this.endWith(EXIT.notTrusted)
    }
    if (await isEnding(report)) this.endWith(EXIT.due)
  }
}
