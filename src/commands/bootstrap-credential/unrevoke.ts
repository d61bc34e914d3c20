import {credentialId} from '../../cli/bootstrap-credential-flags.ts'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output} from '../../cli/flags.ts'

export default class BootstrapCredentialUnrevoke extends TrustCommand {
  static override summary = 'accept a revoked bootstrap credential again'
  static override description =
    'Undoes "bootstrap-credential revoke": takes the credential off the list of revoked ones and, for a certificate, puts its CA back into the ConfigMap. A token does not come back, because it was bound to its Secret; create another one. Certificates that "revoke --with-machines" has revoked stay revoked: see "certificate unrevoke". Only with trustadm\'s own server.'
  static override examples = ['<%= config.bin %> <%= command.id %> 3f9a2c81d0b4']
  static override args = {credential: credentialId}
  static override flags = {...clusterFlags, 'dry-run': dryRun, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(BootstrapCredentialUnrevoke)
    const {findCredential} = await import('../../control-plane/bootstrap-credentials/list.ts')
    const {unrevokeCredential} =
      await import('../../control-plane/bootstrap-credentials/remembered.ts')
    const {requireRevocations} = await import('../../control-plane/revocation/list-store.ts')
    const {findLocalPlane} = await import('../../cli/local-plane.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {unrevokedCredentialView} = await import('../../cli/views/bootstrap-credentials.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {warn} = createProgress(flags)
    const {log} = await findLocalPlane(flags)
    const {'dry-run': isDryRun} = flags
    const done = await withCluster(flags, async ({client}) => {
      await requireRevocations(client)
      const options = {log, warn, clock: this.clock}
      const found = await findCredential(client, args.credential, options)
      return await unrevokeCredential(client, found, {dryRun: isDryRun})
    })
    await this.print(done, flags.output, unrevokedCredentialView(isDryRun, flags))
  }
}
