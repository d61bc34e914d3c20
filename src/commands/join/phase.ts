import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun} from '../../cli/flags.ts'
import {endpoints, joinFlags} from '../../cli/join-flags.ts'
import {JOIN_PHASE_NAMES, type JoinPhaseName} from '../../node/join/names.ts'

export default class JoinPhase extends TrustCommand {
  static override summary = 'run one phase of join'
  static override description =
    'Runs one of the phases of "join", with the files that earlier phases wrote to the folder of the node, and as that node unless --node-name is given. Each can be repeated: what is already correct is kept.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> discovery 10.0.0.1:6443 --token-file token.txt',
    '<%= config.bin %> <%= command.id %> tls-bootstrap --token-file token.txt',
    '<%= config.bin %> <%= command.id %> register-node',
  ]
  static override args = {
    phase: Args.string({
      required: true,
      ignoreStdin: true,
      options: [...JOIN_PHASE_NAMES],
      description: 'the phase to run',
    }),
    endpoint: endpoints,
  }
  static override flags = {...joinFlags, 'dry-run': dryRun}

  async run(): Promise<void> {
    const {args, argv, flags} = await this.parse(JoinPhase)
    const {openJoinSession, runJoinSession} = await import('../../cli/join-session.ts')
    const {JOIN_PHASES, planJoin} = await import('../../node/join/join.ts')
    const phase = JOIN_PHASES[args.phase as JoinPhaseName]
    const session = await openJoinSession(argv.slice(1) as string[], flags, this.clock, {
      isOnePhase: true,
    })
    if (session.isDryRun) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planJoin(session.request, [phase]), 'table', planView)
    }
    await runJoinSession(session, [phase])
  }
}
