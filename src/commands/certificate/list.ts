import * as Flags from '@oclif/core/flags'
import {clusterFlags, type ClusterFlagValues} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {isForPeople, wideOutput} from '../../cli/flags.ts'
import {filterFlags, stateFlag} from '../../cli/requests/flags.ts'
import type {RequestFilter} from '../../control-plane/requests/find.ts'
import type {RequestChange} from '../../control-plane/requests/follow.ts'

export default class CertificateList extends TrustCommand {
  static override summary = 'list the certificate requests of a cluster'
  static override description = `Shows CertificateSigningRequests, the oldest first. The state is the last step that was taken: pending, approved (and not signed yet), denied, failed (the signer refused) or issued.
With --watch, changes are printed as they happen: as rows; as one JSON object per line, {"change", "request"}; or as YAML documents. A request that no longer matches the filters is then shown once more, so that you see what became of it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --state pending --watch',
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
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CertificateList)
    const {filterOf} = await import('../../cli/requests/flags.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const filter = await filterOf(flags)
    const decode = ['wide', 'json', 'yaml'].includes(flags.output)
    if (flags.watch) return await this.follow(flags, filter, decode)
    const {listRequests} = await import('../../control-plane/requests/list.ts')
    const {requestListView} = await import('../../cli/views/requests.ts')
    const list = await withCluster(flags, ({client}) =>
      listRequests(client, filter, {decode}, this.clock),
    )
    await this.print(list, flags.output, requestListView(flags.output === 'wide', this.clock.now()))
    if (list.requests.length > 0 || !isForPeople(flags.output)) return
    const {createProgress} = await import('../../cli/progress.ts')
    createProgress(flags).tell('no certificate requests found')
  }

  private async follow(
    flags: ClusterFlagValues & {output: string; quiet: boolean; verbose: boolean},
    filter: RequestFilter,
    decode: boolean,
  ): Promise<void> {
    const {followRequests} = await import('../../control-plane/requests/follow.ts')
    const {ChangePrinter} = await import('../../cli/views/requests.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const printer = new ChangePrinter(flags.output)
    const options = {
      decode,
      signal: new AbortController().signal,
      warn: createProgress(flags).warn,
      onChanges: async (changes: readonly RequestChange[]) => {
        process.stdout.write(await printer.render(changes, this.clock.now()))
      },
    }
    await withCluster(flags, ({client}) => followRequests(client, filter, options, this.clock))
  }
}
