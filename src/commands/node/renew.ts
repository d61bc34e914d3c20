import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'
import {renewalFlags} from '../../cli/node/agent-flags.ts'

export default class NodeRenew extends TrustCommand {
  static override summary = "renew this machine's certificates now, whether they are due or not"
  static override description =
    'If "node run" is running, it does the work, and its flags apply. If nobody approves the serving certificate, only the client certificate is renewed, and the exit code says so. A certificate that has expired needs --bootstrap-kubeconfig, or "trustadm join" with a new token. In /etc/kubernetes, where kubeadm joined the machine, it also makes the kubelet follow new CAs, and restarts it.'
  static override examples = ['<%= config.bin %> <%= command.id %>']
  static override flags = {...renewalFlags, output}

  async run(): Promise<void> {
    const {flags} = await this.parse(NodeRenew)
    const {openRenewalSession} = await import('../../cli/node/session.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {renewNow} = await import('../../node/agent/renew-now.ts')
    const {readNodeStatus} = await import('../../node/agent/node-status.ts')
    const {nodeStatusView} = await import('../../cli/views/node-status.ts')
    const progress = createProgress(flags)
    const session = await openRenewalSession(flags, {clock: this.clock, log: progress.tell})
    await renewNow(session)
    const {dir, certDir} = session.home
    await this.print(await readNodeStatus(dir, certDir, this.clock), flags.output, nodeStatusView)
  }
}
