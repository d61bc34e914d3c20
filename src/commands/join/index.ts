import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output, skipPhases, unitDir} from '../../cli/flags.ts'
import {endpoints, joinFlags, joinPlaneFlags} from '../../cli/join-flags.ts'
import type {NodeUnit} from '../../node/node-unit.ts'

export default class Join extends TrustCommand {
  static override summary = 'make this machine a node of a cluster'
  static override description = `Finds out which cluster to trust, gets a certificate for this machine, writes kubelet.conf, and registers the Node. The key never leaves this machine. A join command printed by kubeadm works too: only the program's name changes.
Nothing is written before the cluster is known to be the right one. After an interruption, run it again: it resumes, and keeps what is already correct.

To identify the cluster, give a token and an address, a file from a trusted source, or a kubeconfig with a credential for joining (--bootstrap-kubeconfig). If that kubeconfig contains the certificate of this very node, it is used as it is. Every user of this machine can see a token on the command line: use --token-file, - or $TRUSTADM_TOKEN instead.

With --control-plane, the machine becomes a part of the control plane: it gets the CAs that "init --upload-certs" has uploaded, checks that they belong together and to the cluster, creates its own certificates and kubeconfigs, and starts a server on the etcd of the others. All servers of a control plane need the same store: one that has no etcd cannot be joined.

Nothing renews the certificate unless "node run" or a kubelet runs: --node-run prints or installs a systemd unit for it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 10.0.0.1:6443 --token-file token.txt --discovery-token-ca-cert-hash sha256:…',
    {
      description: 'With a file from a web server; the token is only for authentication:',
      command:
        '<%= config.bin %> <%= command.id %> --discovery-file https://example.com/cluster.yaml --token-file token.txt',
    },
    {
      description: 'With a kubeconfig that a machine image contains:',
      command:
        '<%= config.bin %> <%= command.id %> --bootstrap-kubeconfig /etc/kubernetes/bootstrap.conf',
    },
    {
      description: 'As another machine of the control plane:',
      command:
        '<%= config.bin %> <%= command.id %> 10.0.0.1:6443 --token-file token.txt --discovery-token-ca-cert-hash sha256:… --control-plane --certificate-key …',
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
        'stop once the cluster is found, and write bootstrap-kubelet.conf: the kubelet then gets its certificate itself, and a process in the background deletes that file',
    }),
    'node-run': Flags.option({
      options: ['print', 'install'] as const,
      summary:
        'print a systemd unit for "node run", which renews the certificate, or write it to --unit-dir',
      exclusive: ['for-kubelet'],
    })(),
    'unit-dir': unitDir,
    'skip-phases': skipPhases('join'),
    'dry-run': dryRun,
    ...joinPlaneFlags,
    output,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Join)
    const {openJoinSession, runJoinSession} = await import('../../cli/join-session.ts')
    const {joinView} = await import('../../cli/views/join.ts')
    const session = await openJoinSession(argv as string[], flags, this.clock)
    const {request, phases} = session
    if (flags['control-plane']) {
      const {joinControlPlane} = await import('../../cli/join-plane.ts')
      const {joinPlaneView} = await import('../../cli/views/join-plane.ts')
      const joined = await joinControlPlane(flags, request)
      return await this.print(joined, flags.output, joinPlaneView)
    }
    if (session.isDryRun) {
      const {planJoin} = await import('../../node/join/join.ts')
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planJoin(request, phases), flags.output, planView)
    }
    await runJoinSession(session, phases)
    const {describeNode} = await import('../../node/describe-node.ts')
    const result = await describeNode(request.settings)
    if (session.isForKubelet) {
      const {deleteOnceUnneeded} = await import('../../cli/kubelet-cleanup.ts')
      deleteOnceUnneeded(result)
    }
    const nodeRun = await this.unitFor(request.settings, flags)
    await this.print({...result, ...(nodeRun && {nodeRun})}, flags.output, joinView)
  }

  private async unitFor(
    {dir, certDir}: {dir: string; certDir?: string | undefined},
    {
      'node-run': wanted,
      'unit-dir': unitDir,
    }: {'node-run'?: string | undefined; 'unit-dir': string},
  ): Promise<NodeUnit | undefined> {
    if (wanted === undefined) return undefined
    const {findCertDir} = await import('../../node/cert-dir.ts')
    const {nodeUnit} = await import('../../node/node-unit.ts')
    const {installUnit} = await import('../../node/systemd-unit.ts')
    const {nodeFile} = await import('../../node/node-files.ts')
    const {ownProgram} = await import('../../cli/own-program.ts')
    const unit = nodeUnit({dir, certDir: await findCertDir(dir, certDir)}, ownProgram(), unitDir)
    const isInstalled = wanted === 'install'
    if (isInstalled) await installUnit(nodeFile(dir, 'unitNote'), unit)
    return {...unit, isInstalled}
  }
}
