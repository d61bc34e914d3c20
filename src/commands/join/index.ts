import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output, skipPhases} from '../../cli/flags.ts'
import {endpoints, joinFlags} from '../../cli/join-flags.ts'

export default class Join extends TrustCommand {
  static override summary = 'make this machine a node of a cluster'
  static override description = `Finds out which cluster to trust, gets a certificate for this machine, writes kubelet.conf, and registers the Node. The key never leaves this machine. A join command printed by kubeadm works too: only the program's name changes.
Nothing is written before the cluster is known to be the right one. After an interruption, run it again: it resumes, and keeps what is already correct.

To identify the cluster, give a token and an address, or a file from a trusted source. Every user of this machine can see a token on the command line: use --token-file, - or $TRUSTADM_TOKEN instead.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 10.0.0.1:6443 --token-file token.txt --discovery-token-ca-cert-hash sha256:…',
    {
      description: 'With a file from a web server; the token is only for authentication:',
      command:
        '<%= config.bin %> <%= command.id %> --discovery-file https://example.com/cluster.yaml --token-file token.txt',
    },
    {
      description: 'Write bootstrap-kubelet.conf for a real kubelet:',
      command:
        '<%= config.bin %> <%= command.id %> 10.0.0.1:6443 --token-file token.txt --dir /etc/kubernetes --for-kubelet',
    },
  ]
  static override args = {endpoint: endpoints}
  static override flags = {
    ...joinFlags,
    'for-kubelet': Flags.boolean({
      summary:
        'stop once the cluster is found, and write bootstrap-kubelet.conf: the kubelet then gets its certificate itself',
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
