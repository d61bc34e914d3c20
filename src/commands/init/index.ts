import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output, skipPhases} from '../../cli/flags.ts'
import {initFlags} from '../../cli/init-flags.ts'
import {initTokenFlags} from '../../cli/init-token.ts'

export default class Init extends TrustCommand {
  static override summary = 'set up a control plane on this machine and start its server'
  static override description = `Makes the CAs, the certificates and the kubeconfig files, starts the API server in the background, waits until it is ready, publishes how machines find the cluster, and prints the line that they join by.
What is there already and right is kept: a second run completes what a first one left, and one that has nothing to do changes nothing; it prints the token of the first one while that is valid.

A CA of your own is used: put ca.crt, and ca.key if it may be here, into the folder of --cert-dir first. Certificates and keys of your own are kept if they work, and never overwritten without --replace; "reset" leaves them alone.

Only one command at a time changes a control plane: a second one waits for its turn.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    {
      description: 'On a port that the system picks, for scripts:',
      command: '<%= config.bin %> <%= command.id %> --apiserver-bind-port 0 --output json',
    },
    {
      description: 'Behind a load balancer, in a folder of its own:',
      command:
        '<%= config.bin %> <%= command.id %> --dir /srv/plane --control-plane-endpoint api.example.com:6443',
    },
    {
      description: 'See what would be done:',
      command: '<%= config.bin %> <%= command.id %> --dry-run',
    },
  ]
  static override flags = {
    ...initFlags,
    ...initTokenFlags,
    'skip-phases': skipPhases('init'),
    'dry-run': dryRun,
    foreground: Flags.boolean({
      summary: 'run the server in this process, until it is stopped',
      exclusive: ['dry-run'],
    }),
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(Init)
    const {openSession, runSession} = await import('../../cli/init-session.ts')
    const {describePlane, initPhases, planInit} = await import('../../control-plane/init/init.ts')
    const {isRunning} = await import('../../control-plane/server-state.ts')
    const {initView} = await import('../../cli/views/init.ts')
    const session = await openSession(flags, this.clock)
    const phases = initPhases(session.skipped)
    if (flags['dry-run']) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planInit(phases, session.context), flags.output, planView)
    }
    await runSession(session, phases)
    const {plane, joinToken} = session.context
    const result = await describePlane(plane, flags['skip-token-print'] ? undefined : joinToken)
    await this.print(result, flags.output, initView(await isRunning(plane)))
    await session.running()?.ended
  }
}
