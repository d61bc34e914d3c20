import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {isForPeople, wideOutput} from '../../cli/flags.ts'
import {filterFlags} from '../../cli/requests/flags.ts'

export default class CertificateReview extends TrustCommand {
  static override summary = 'go through the pending certificate requests, one by one'
  static override description =
    'Shows each pending request as "certificate show" does and asks whether to approve, deny or skip it. Requests that arrive in the meantime are shown too. Needs a terminal.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --signer kubernetes.io/kubelet-serving',
  ]
  static override flags = {...clusterFlags, ...filterFlags, output: wideOutput}

  async run(): Promise<void> {
    const {flags} = await this.parse(CertificateReview)
    const {canAsk, choose, askText} = await import('../../cli/prompt.ts')
    const {noTerminal, reviewRequests} = await import('../../cli/requests/review.ts')
    if (!canAsk()) throw noTerminal()
    const {pairingIn} = await import('../../control-plane/requests/pairing.ts')
    const {filterOf} = await import('../../cli/requests/flags.ts')
    const {reviewView} = await import('../../cli/views/requests-done.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const filter = await filterOf(flags)
    const {createProgress} = await import('../../cli/progress.ts')
    const {tell} = createProgress({...flags, quiet: flags.quiet || !isForPeople(flags.output)})
    const reviewer = {choose, askText, tell, stream: process.stderr}
    const review = await withCluster(flags, ({client, access}) =>
      reviewRequests(client, filter, reviewer, this.clock, pairingIn(client, access.ca)),
    )
    await this.print(review, flags.output, reviewView)
  }
}
