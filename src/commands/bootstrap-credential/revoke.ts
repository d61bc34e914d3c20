import * as Flags from '@oclif/core/flags'
import {credentialId} from '../../cli/bootstrap-credential-flags.ts'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output, yes} from '../../cli/flags.ts'
import type {Cluster} from '../../cli/with-cluster.ts'
import type {WithMachinesFlags} from '../../cli/with-machines.ts'
import type {CredentialReport} from '../../control-plane/bootstrap-credentials/list.ts'

export default class BootstrapCredentialRevoke extends TrustCommand {
  static override summary = 'revoke a bootstrap credential'
  static override description = `The server refuses the credential from now on, on open connections too, and its requests that wait are not approved any more. Machines that have joined keep their certificates. Neither "init" nor a restart brings the credential back, nor does its ConfigMap or Secret when it is applied again from a copy: only "bootstrap-credential unrevoke" does. Asks first.

With --with-machines, also revokes every certificate that was obtained with the credential, and those obtained with these in turn, and cordons the Nodes of these machines; delete the Nodes yourself. This needs the issuance log, so run it on the machine of the control plane. Works for a credential too that is revoked already. Only with trustadm's own server.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 3f9a2c81d0b4',
    '<%= config.bin %> <%= command.id %> 3f9a2c81d0b4 --with-machines --dry-run',
  ]
  static override args = {credential: credentialId}
  static override flags = {
    ...clusterFlags,
    'with-machines': Flags.boolean({
      summary: 'also revoke the certificates of machines that joined with the credential',
    }),
    yes,
    'dry-run': dryRun,
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(BootstrapCredentialRevoke)
    const {findCredential} = await import('../../control-plane/bootstrap-credentials/list.ts')
    const {findLocalPlane} = await import('../../cli/local-plane.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {warn} = createProgress(flags)
    const {log} = await findLocalPlane(flags)
    const isDone = await withCluster(flags, async (cluster) => {
      const options = {log, warn, clock: this.clock}
      const found = await findCredential(cluster.client, args.credential, options)
      return flags['with-machines']
        ? await this.revokeWithMachines(cluster, found, flags)
        : await this.revokeAlone(cluster, found, flags)
    })
    if (isDone) return
    process.stderr.write('Nothing was changed.\n')
    this.endWith(1)
  }

  private async revokeAlone(
    {client}: Cluster,
    found: CredentialReport,
    flags: WithMachinesFlags & {output: string},
  ): Promise<boolean> {
    const {requireLive, revokeCredential} =
      await import('../../control-plane/bootstrap-credentials/revoke.ts')
    const {revokedCredentialView} = await import('../../cli/views/bootstrap-credentials.ts')
    const {confirm} = await import('../../cli/prompt.ts')
    requireLive(found)
    const isDryRun = flags['dry-run']
    const question = `Revoke the bootstrap credential ${found.id}? Machines that still have it cannot join any more.`
    if (!isDryRun && !flags.yes && !(await confirm(question))) return false
    const revoked = isDryRun ? found : await revokeCredential(client, found, this.clock)
    await this.print(revoked, flags.output, revokedCredentialView(isDryRun, flags))
    return true
  }

  private async revokeWithMachines(
    cluster: Cluster,
    found: CredentialReport,
    flags: WithMachinesFlags & {output: string},
  ): Promise<boolean> {
    const {requireKnown, revokeCredential} =
      await import('../../control-plane/bootstrap-credentials/revoke.ts')
    const {withdrawAll} = await import('../../cli/with-machines.ts')
    const {withdrawnView} = await import('../../cli/views/revocations.ts')
    const credential = {credentialId: requireKnown(found)}
    const reason = `joined with the bootstrap credential ${found.id}`
    const done = await withdrawAll(cluster, [{credential, reason}], flags, {
      withdraw: async () =>
        found.state === 'revoked' && found.object === null
          ? undefined
          : await revokeCredential(cluster.client, found, this.clock),
      clock: this.clock,
    })
    if (!done) return false
    await this.print({...done, deleted: [found.id]}, flags.output, withdrawnView(flags['dry-run']))
    return true
  }
}
