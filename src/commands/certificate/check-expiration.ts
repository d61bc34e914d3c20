import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dir, isForPeople, output} from '../../cli/flags.ts'
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
    within: Flags.string({
      helpValue: '<duration>',
      summary: 'exit with 7 if a certificate or a CA ends within this time, as in "30d" or "12h"',
    }),
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CheckExpiration)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {checkExpiration, endingWithin, isOutOfDate} =
      await import('../../control-plane/expiration.ts')
    const {parseSpan} = await import('../../bootstrap/durations.ts')
    const {expirationView} = await import('../../cli/views/expiration.ts')
    const within = flags.within === undefined ? 0 : parseSpan(flags.within, '--within')
    const {checkKubeadmExpiration} =
      await import('../../control-plane/kubeadm-folders/kubeadm-plane.ts')
    const folders = kubeadmFolders(flags)
    const report = folders
      ? await checkKubeadmExpiration(folders, this.clock)
      : await checkExpiration(await loadPlane(dirOf(flags.dir)), this.clock)
    await this.print(report, flags.output, expirationView)
    if (isOutOfDate(report)) return this.endWith(EXIT.notTrusted)
    const ending = endingWithin(report, within)
    if (ending.length === 0) return
    this.endWith(EXIT.due)
    if (!isForPeople(flags.output)) return
    const {createProgress} = await import('../../cli/progress.ts')
    const names = [...new Set(ending.map(({name}) => name))].join(', ')
    createProgress(flags).warn(`these end within ${flags.within ?? ''}: ${names}`)
  }
}
