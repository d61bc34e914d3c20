import * as Flags from '@oclif/core/flags'
import {clusterFlags, type ClusterFlagValues} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {isForPeople, wideOutput} from '../../cli/flags.ts'
import {filterFlags, stateFlag} from '../../cli/requests/flags.ts'
import type {RequestFilter} from '../../control-plane/requests/find.ts'
import type {RequestChange} from '../../control-plane/requests/follow.ts'

export default class CertificateList extends TrustCommand {
  static override summary = 'list the certificate requests of a cluster'
  static override description = `Shows CertificateSigningRequests, the oldest first. The state is the last step that was taken: pending, approved (and not signed yet), denied, failed (the signer refused) or issued. Pending requests have four pairing words, which the machine prints too: compare them with the person there before you approve. Only the newest 50 have them here; "certificate show" always shows them.
With --watch, changes are printed as they happen: as rows; as one JSON object per line, {"change", "request"}; or as YAML documents. A request that no longer matches the filters is then shown once more, so that you see what became of it.
With --revoked, shows the certificates that "certificate revoke" has put on the list: by their serial number, with the time until they expire.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --state pending --watch',
    '<%= config.bin %> <%= command.id %> --revoked',
    '<%= config.bin %> <%= command.id %> --signer kubernetes.io/kubelet-serving --older-than 1h --output wide',
    {
      description: 'Deny requests that have waited for more than a day:',
      command:
        '<%= config.bin %> <%= command.id %> --state pending --older-than 24h --output name | xargs <%= config.bin %> certificate deny',
    },
  ]
  static override flags = {
    ...clusterFlags,
    state: stateFlag,
    ...filterFlags,
    watch: Flags.boolean({char: 'w', summary: 'keep running and show changes as they happen'}),
    revoked: Flags.boolean({
      summary: 'list the revoked certificates instead, the newest first',
      exclusive: ['state', 'watch', ...Object.keys(filterFlags)],
    }),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CertificateList)
    if (flags.revoked) return await this.listRevoked(flags)
    const {filterOf} = await import('../../cli/requests/flags.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const filter = await filterOf(flags)
    const decode = flags.output !== 'name'
    if (flags.watch) return await this.follow(flags, filter, decode)
    const {listRequests} = await import('../../control-plane/requests/list.ts')
    const {pairingIn} = await import('../../control-plane/requests/pairing.ts')
    const {requestListView} = await import('../../cli/views/requests.ts')
    const list = await withCluster(flags, ({client, access}) =>
      listRequests(
        client,
        filter,
        {decode, ...(flags.output !== 'name' && {pairing: pairingIn(client, access.ca)})},
        this.clock,
      ),
    )
    await this.print(list, flags.output, requestListView(flags.output === 'wide', this.clock.now()))
    if (list.requests.length > 0 || !isForPeople(flags.output)) return
    const {createProgress} = await import('../../cli/progress.ts')
    createProgress(flags).tell('no certificate requests found')
  }

  private async listRevoked(
    flags: ClusterFlagValues & {output: string; quiet: boolean; verbose: boolean},
  ): Promise<void> {
    const {requireRevocations} = await import('../../control-plane/revocation/list-store.ts')
    const {listRevocations} = await import('../../control-plane/revocation/unrevoke.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {revocationListView} = await import('../../cli/views/revocations.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const list = await withCluster(flags, async ({client}) => {
      await requireRevocations(client)
      return await listRevocations(client)
    })
    const {tell, warn} = createProgress(flags)
    for (const problem of list.problems) warn(problem)
    const view = revocationListView(flags.output === 'wide', this.clock.now())
    await this.print(list, flags.output, view)
    if (list.revocations.length === 0 && isForPeople(flags.output)) {
      tell('no certificate is revoked')
    }
  }

  private async follow(
    flags: ClusterFlagValues & {output: string; quiet: boolean; verbose: boolean},
    filter: RequestFilter,
    decode: boolean,
  ): Promise<void> {
    const {followRequests} = await import('../../control-plane/requests/follow.ts')
    const {pairingIn} = await import('../../control-plane/requests/pairing.ts')
    const {ChangePrinter} = await import('../../cli/views/requests.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {outputClosed} = await import('../../cli/standard-output.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const printer = new ChangePrinter(flags.output)
    const options = {
      decode,
      signal: outputClosed,
      warn: createProgress(flags).warn,
      onChanges: async (changes: readonly RequestChange[]) => {
        process.stdout.write(await printer.render(changes, this.clock.now()))
      },
    }
    await withCluster(flags, ({client, access}) =>
      followRequests(
        client,
        filter,
        {...options, pairing: pairingIn(client, access.ca)},
        this.clock,
      ),
    )
  }
}
