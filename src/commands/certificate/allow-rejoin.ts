import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {wideOutput, yes} from '../../cli/flags.ts'
import type {RejoinOptions} from '../../control-plane/requests/rejoin.ts'

const NO_EFFECT =
  'this has no effect while kube-controller-manager approves requests in this cluster: it gives the name to any machine with a token. To protect names, start it with --controllers=*,-csrapproving and run "trustadm controllers --controllers csr-approver"'

export default class CertificateAllowRejoin extends TrustCommand {
  static override summary = 'let a machine with a new key join under the name of a node'
  static override description = `A request for the name of a node that exists, or that has a valid certificate, waits for a person: otherwise anyone with a bootstrap token could take over any node. Use this after a machine was reinstalled. It lets one machine in, once, within the time of --ttl.
An attacker may have sent a request before your machine did, so the first request is never simply taken. --pin names the key of the machine: "trustadm join" prints the pin on the machine, "certificate list --output wide" and "certificate show" print those of the requests. Without --pin, on a terminal you choose from the waiting requests; in a script --pin is required if any request waits.
On a cluster where kube-controller-manager approves requests it has no effect, and says so.
If no request waits, it lets in the next one from --requester, by default the user that requested the name before.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> worker-1',
    '<%= config.bin %> <%= command.id %> worker-1 --pin sha256:5f2c9a…',
    '<%= config.bin %> <%= command.id %> worker-1 --requester system:bootstrap:abcdef --ttl 10m',
    '<%= config.bin %> <%= command.id %> worker-1 --revoke',
  ]
  static override args = {
    node: Args.string({required: true, ignoreStdin: true, description: 'the name of the node'}),
  }
  static override flags = {
    ...clusterFlags,
    pin: Flags.string({
      helpValue: '<sha256:…>',
      summary: 'the pin of the key to allow',
      exclusive: ['requester', 'revoke'],
    }),
    requester: Flags.string({
      helpValue: '<user>',
      summary:
        'allow the next request of this user, as in "system:bootstrap:<token-id>" [default: the user that requested the name before]',
      exclusive: ['revoke'],
    }),
    ttl: Flags.string({
      helpValue: '<duration>',
      default: '1h',
      summary: 'how long it stays allowed, as in "30m"',
    }),
    revoke: Flags.boolean({summary: 'withdraw an earlier permission'}),
    yes,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CertificateAllowRejoin)
    const {allowRejoin, rejoinTtl, revokeRejoin} =
      await import('../../control-plane/requests/rejoin.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {rejoinView} = await import('../../cli/views/requests-done.ts')
    const {managerApproves} =
      await import('../../control-plane/requests/kube-controller-manager.ts')
    const {clusterCommand} = await import('../../cli/same-cluster.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {canAsk, choose} = await import('../../cli/prompt.ts')
    const {chooseWaiting} = await import('../../cli/requests/choose-waiting.ts')
    const {REQUEST_PIN, parsePin} = await import('../../pki/pins.ts')
    const {node} = args
    const options: RejoinOptions = {
      ttl: rejoinTtl(flags.ttl),
      pin: flags.pin === undefined ? undefined : parsePin(flags.pin, REQUEST_PIN),
      requester: flags.requester,
      choose:
        flags.yes || !canAsk()
          ? undefined
          : (waiting) => chooseWaiting(node, waiting, this.clock.now(), choose),
    }
    const {tell, warn} = createProgress(flags)
    const grant = await withCluster(flags, async ({client}) => {
      if (flags.revoke) return await revokeRejoin(client, node)
      if (await managerApproves(client, this.clock)) warn(NO_EFFECT)
      return await allowRejoin(client, node, options, this.clock)
    })
    if (!grant) {
      process.stderr.write('Nothing was allowed.\n')
      return this.endWith(1)
    }
    await this.print(grant, flags.output, rejoinView)
    if (!flags.revoke) {
      const revoke = clusterCommand(flags, `certificate allow-rejoin ${node} --revoke`)
      tell(`revoke it with "${revoke}"`)
    }
  }
}
