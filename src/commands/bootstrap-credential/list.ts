import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {isForPeople, wideOutput} from '../../cli/flags.ts'

export default class BootstrapCredentialList extends TrustCommand {
  static override summary = 'list the bootstrap credentials of a cluster'
  static override description =
    'Shows which credentials are live, since when, when a machine last asked with them, and those that were used and are revoked. Comes from the API and, on the machine of the control plane, from the issuance log: elsewhere only requests of the last hour are known.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output wide',
  ]
  static override flags = {...clusterFlags, output: wideOutput}

  async run(): Promise<void> {
    const {flags} = await this.parse(BootstrapCredentialList)
    const {listCredentials} = await import('../../control-plane/bootstrap-credentials/list.ts')
    const {findLocalPlane} = await import('../../cli/local-plane.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {credentialListView} = await import('../../cli/views/bootstrap-credentials.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {tell, warn} = createProgress(flags)
    const {log} = await findLocalPlane(flags)
    const list = await withCluster(flags, ({client}) =>
      listCredentials(client, {log, warn, clock: this.clock}),
    )
    await this.print(list, flags.output, credentialListView(flags.output === 'wide'))
    if (list.credentials.length === 0 && isForPeople(flags.output)) {
      const create = clusterCommand(flags, 'bootstrap-credential create')
      tell(`no bootstrap credentials found; create one with "${create}"`)
    }
  }
}
