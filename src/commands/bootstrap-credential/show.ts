import {credentialId} from '../../cli/bootstrap-credential-flags.ts'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'

export default class BootstrapCredentialShow extends TrustCommand {
  static override summary = 'show a bootstrap credential, and which machines joined with it'
  static override description =
    'Shows what the credential rests on, its credential-id, its requests that wait, and every machine and certificate that was obtained with it, renewals included. The machines come from the issuance log, so run this on the machine of the control plane. Works for revoked credentials that were used too.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 3f9a2c81d0b4',
    '<%= config.bin %> <%= command.id %> 3f9a2c81d0b4 --output json',
  ]
  static override args = {credential: credentialId}
  static override flags = {...clusterFlags, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(BootstrapCredentialShow)
    const {showCredential} = await import('../../control-plane/bootstrap-credentials/list.ts')
    const {findLocalPlane} = await import('../../cli/local-plane.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {credentialView} = await import('../../cli/views/bootstrap-credentials.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {warn} = createProgress(flags)
    const {log} = await findLocalPlane(flags)
    const shown = await withCluster(flags, ({client}) =>
      showCredential(client, args.credential, {log, warn, clock: this.clock}),
    )
    await this.print(shown, flags.output, credentialView)
  }
}
