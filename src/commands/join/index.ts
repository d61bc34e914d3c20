import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output, skipPhases} from '../../cli/flags.ts'
import {endpoints, joinFlags} from '../../cli/join-flags.ts'

export default class Join extends TrustCommand {
  static override summary = 'make this machine a node of a cluster'
  static override description = `Finds out which cluster to trust, gets a certificate of this machine's own, whose key never leaves it, writes kubelet.conf, and registers the Node. A line that kubeadm prints works with the program's name changed.
Nothing is written before a cluster is found that may be trusted. Run again after any interruption it goes on where it stopped; what is there and right is kept.

The cluster is found by a token and an address, or by a file that came in a trusted way. A token on the command line can be seen by every user of this machine: --token-file, - and $TRUSTADM_TOKEN hide it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 10.0.0.1:6443 --token-file token.txt --discovery-token-ca-cert-hash sha256:…',
    {
      description: 'By a file from a web server; the token is only to be let in by:',
      command:
        '<%= config.bin %> <%= command.id %> --discovery-file https://example.com/cluster.yaml --token-file token.txt',
    },
    {
      description: 'Leave bootstrap-kubelet.conf for a real kubelet:',
      command:
        '<%= config.bin %> <%= command.id %> 10.0.0.1:6443 --token-file token.txt --dir /etc/kubernetes --for-kubelet',
    },
  ]
  static override args = {endpoint: endpoints}
  static override flags = {
    ...joinFlags,
    'for-kubelet': Flags.boolean({
      summary:
        'stop once the cluster is found, and leave bootstrap-kubelet.conf: a kubelet gets its certificate by itself',
    }),
    'skip-phases': skipPhases('join'),
    'dry-run': dryRun,
    output,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Join)
    const {openJoinSession, runJoinSession} = await import('../../cli/join-session.ts')
    const {joinView} = await import('../../cli/views/join.ts')
    const session = await openJoinSession(argv as string[], flags, this.clock)
    const {request, phases} = session
    if (session.isDryRun) {
      const {planJoin} = await import('../../node/join/join.ts')
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planJoin(request, phases), flags.output, planView)
    }
    await runJoinSession(session, phases)
    const {describeNode} = await import('../../node/describe-node.ts')
    const {dir, nodeName} = request.settings
    await this.print(await describeNode(dir, nodeName), flags.output, joinView)
  }
}
