import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {dryRun, output, yes} from '../../cli/flags.ts'
import {LeaveCommand} from '../../cli/node/leave-command.ts'
import {nodeFlags} from '../../cli/node-flags.ts'

const ofKubeconfig = {helpGroup: 'OPERATOR', dependsOn: ['kubeconfig']}

export default class NodeLeave extends LeaveCommand {
  static override summary = 'take this machine out of its cluster'
  static override description = `Deletes the Node and the record of its name, then the certificates, keys and other files that trustadm wrote for the node. Kubernetes does not let a node delete itself: if the node's rights do not suffice, this prints what an operator has to run. With --kubeconfig, the rights of an operator are used, and the name is free at once; otherwise a machine that joins with it again waits for "certificate allow-rejoin". Also removes the systemd unit that "join --node-run install" wrote, unless it was changed since.
It removes only files that it has recorded and that nobody has changed since: certificates that a kubelet has renewed stay, and so do all files of a kubeadm control plane. This cannot be undone. Asks first, unless --yes is given. After an interruption, run it again: it finishes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --yes',
    '<%= config.bin %> <%= command.id %> --kubeconfig admin.conf',
    '<%= config.bin %> <%= command.id %> --kubeconfig ~/.kube/config --context production',
  ]
  static override flags = {
    ...nodeFlags,
    kubeconfig: Flags.string({
      helpGroup: 'OPERATOR',
      helpValue: '<file>',
      summary: "delete the Node with this kubeconfig instead of the node's own",
    }),
    context: {...clusterFlags.context, ...ofKubeconfig},
    cluster: {...clusterFlags.cluster, ...ofKubeconfig},
    user: {...clusterFlags.user, ...ofKubeconfig},
    'request-timeout': {...clusterFlags['request-timeout'], ...ofKubeconfig},
    yes,
    'dry-run': dryRun,
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(NodeLeave)
    const {nodeDirOf} = await import('../../cli/folders.ts')
    await this.leave(nodeDirOf(flags.dir), flags)
  }
}
