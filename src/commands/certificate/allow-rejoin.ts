import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {wideOutput, yes} from '../../cli/flags.ts'
import type {RejoinOptions} from '../../control-plane/requests/rejoin.ts'

export default class CertificateAllowRejoin extends TrustCommand {
  static override summary = 'let a machine with a new key join under the name of a node'
  static override description = `A request for the name of a node that is there, or that has a valid certificate, is left to a person: whoever has a bootstrap token could otherwise take over any node. Use this when a machine was set up again. It lets one machine in, once, until the time is over.
Which machine is never left to chance, for somebody else may have asked before you. --pin names its key: "trustadm join" prints the pin on the machine, "certificate list --output wide" and "certificate show" print those of the requests. Without it, on a terminal you choose from the requests that wait for the name; in a script --pin is required if any waits.
If nothing waits, the next request is let in that is made from now on by whoever asked for the name before, or by --requester.`
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
      summary: 'the pin of the key to let in',
      exclusive: ['requester', 'revoke'],
    }),
    requester: Flags.string({
      helpValue: '<user>',
      summary:
        'let in the next request of this user, as in "system:bootstrap:<token-id>" [default: who asked for the name before]',
      exclusive: ['revoke'],
    }),
    ttl: Flags.string({
      helpValue: '<duration>',
      default: '1h',
      summary: 'how long it is allowed, as in "30m"',
    }),
    revoke: Flags.boolean({summary: 'take it back'}),
    yes,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CertificateAllowRejoin)
    const {allowRejoin, rejoinTtl, revokeRejoin} =
      await import('../../control-plane/requests/rejoin.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {rejoinView} = await import('../../cli/views/requests-done.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const {canAsk, choose} = await import('../../cli/prompt.ts')
    const {chooseWaiting} = await import('../../cli/choose-waiting.ts')
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
    const grant = await withCluster(flags, ({client}) =>
      flags.revoke ? revokeRejoin(client, node) : allowRejoin(client, node, options, this.clock),
    )
    if (!grant) {
      process.stderr.write('Nothing was allowed.\n')
      return this.endWith(1)
    }
    await this.print(grant, flags.output, rejoinView)
    if (!flags.revoke) {
      createProgress(flags).tell(
        `take it back with "trustadm certificate allow-rejoin ${node} --revoke"`,
      )
    }
  }
}
