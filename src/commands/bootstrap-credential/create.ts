import * as Flags from '@oclif/core/flags'
import {bootstrapperNamespace} from '../../cli/bootstrap-credential-flags.ts'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'

export default class BootstrapCredentialCreate extends TrustCommand {
  static override summary = 'create a long-lived, revocable credential for a fleet of machines'
  static override description = `Prints a kubeconfig for machine images, or writes it with --out. A machine joins with it: "trustadm join --bootstrap-kubeconfig FILE"; a kubelet takes it as --bootstrap-kubeconfig. Its holder can ask for a node certificate and do nothing else; "machine create" says which machines are expected.

--kind certificate: a client certificate for ten years, with a CA of its own whose key is not kept. It rests on a ConfigMap. Each one is new and is shown once. Only trustadm's own server accepts it; for other clusters it is refused.
--kind token: a token of the service account node-bootstrapper. It rests on the Secret node-bootstrapper-token and works with every cluster. An existing token is handed out again.

To revoke it, run "trustadm bootstrap-credential revoke", or delete the ConfigMap or the Secret with kubectl. A deleted Secret is created again with a new token, and an Event says so; "revoke" is for good.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --out bootstrap-kubelet.conf',
    '<%= config.bin %> <%= command.id %> --kind token > bootstrap-kubelet.conf',
    '<%= config.bin %> <%= command.id %> --kind token --kubeconfig admin.conf --namespace openshift-machine-config-operator',
  ]
  static override flags = {
    ...clusterFlags,
    kind: Flags.option({
      options: ['certificate', 'token'] as const,
      default: 'certificate' as const,
      summary: 'what machines authenticate with',
    })(),
    namespace: bootstrapperNamespace,
    out: Flags.string({
      helpValue: '<file>',
      summary: 'a new file for the kubeconfig, readable by its owner only [default: print it]',
    }),
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(BootstrapCredentialCreate)
    const {createCredential} = await import('../../control-plane/bootstrap-credentials/create.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {createdCredentialView} = await import('../../cli/views/bootstrap-credentials.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {tell, warn} = createProgress(flags)
    const {kind, namespace, out: file} = flags
    const options = {kind, namespace, file, tell, warn, clock: this.clock}
    const created = await withCluster(flags, (cluster) => createCredential(cluster, options))
    await this.print(created, flags.output, createdCredentialView)
    const revoke = clusterCommand(flags, `bootstrap-credential revoke ${created.id}`)
    warn(`whoever has this kubeconfig can ask for node certificates; to revoke it, run "${revoke}"`)
  }
}
