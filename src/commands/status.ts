import {endingCheck, within} from '../cli/ending.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'
import {kubeadmFolderFlags} from '../cli/kubeadm-flags.ts'
import {NodeStatusBase} from '../cli/node/status-command.ts'
import type {StatusReport} from '../control-plane/status.ts'
import type {ExpirationReport} from '../control-plane/expiration.ts'
import {EXIT, TrustError} from '../errors.ts'

export default class Status extends NodeStatusBase {
  static override summary = 'show what runs, what is stored and what expires'
  static override description =
    'Shows the control plane of this machine: its server, all servers of the cluster with their versions and differences, its certificates and how many objects are stored. If the server of this machine is stopped or not ready and the store is etcd, it asks whichever server responds at the address in admin.conf for the others. Exits with 3 if one of its certificates has expired or is not valid yet, otherwise with 1 if the server is not ready, otherwise with 7 if a certificate or a CA ends within the time of --within. In the folder of a node, this is "node status". With --cert-dir or --kubeconfig-dir, shows a control plane that kubeadm made.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
    '<%= config.bin %> <%= command.id %> --within 30d',
    '<%= config.bin %> <%= command.id %> --cert-dir /etc/kubernetes/pki',
  ]
  static override flags = {dir, ...kubeadmFolderFlags, within, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(Status)
    const {kubeadmFolders} = await import('../cli/kubeadm-flags.ts')
    const folders = kubeadmFolders(flags)
    const isEnding = await endingCheck(flags)
    if (folders) {
      const {readKubeadmStatus} = await import('../control-plane/kubeadm-folders/kubeadm-plane.ts')
      return await this.show(await readKubeadmStatus(folders, this.clock), flags.output, isEnding)
    }
    const dir = dirOf(flags.dir)
    const {isFolderOfNode} = await import('../cli/node/node-instead.ts')
    if (await isFolderOfNode(dir)) {
      if (flags.within !== undefined) throw onlyOfPlanes()
      return await this.showNode(dir, flags)
    }
    const {loadPlane} = await import('../control-plane/config/stored.ts')
    const {readStatus} = await import('../control-plane/status.ts')
    await this.show(await readStatus(await loadPlane(dir), this.clock), flags.output, isEnding)
  }

  private async show(
    report: StatusReport,
    output: string,
    isEnding: (certificates: ExpirationReport) => Promise<boolean>,
  ): Promise<void> {
    const {isOutOfDate} = await import('../control-plane/expiration.ts')
    const {statusView} = await import('../cli/views/status.ts')
    await this.print(report, output, statusView)
    if (isOutOfDate(report.certificates)) this.endWith(EXIT.notTrusted)
    else if (!report.server.ready) this.endWith(EXIT.failed)
    else if (await isEnding(report.certificates)) this.endWith(EXIT.due)
  }
}

const onlyOfPlanes = () =>
  new TrustError('USAGE', '--within is for a control plane, and this is the folder of a node', {
    hints: ['leave it out: the status of a node exits with 7 if a certificate is overdue'],
  })
