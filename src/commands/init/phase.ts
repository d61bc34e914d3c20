import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun} from '../../cli/flags.ts'
import {initFlags} from '../../cli/init-flags.ts'
import {initTokenFlags} from '../../cli/init-token.ts'
import {PHASE_NAMES, type PhaseName} from '../../control-plane/init/names.ts'

export default class InitPhase extends TrustCommand {
  static override summary = 'run one phase of init'
  static override description =
    'Runs one of the steps that "init" consists of. Each can be repeated: what is right is kept.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> certs',
    '<%= config.bin %> <%= command.id %> kubeconfig --dry-run',
  ]
  static override args = {
    phase: Args.string({
      required: true,
      options: [...PHASE_NAMES],
      description: 'the phase to run',
    }),
  }
  static override flags = {...initFlags, ...initTokenFlags, 'dry-run': dryRun}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(InitPhase)
    const {openSession, runSession} = await import('../../cli/init-session.ts')
    const {describePlane, planInit, requirePhase} = await import('../../control-plane/init/init.ts')
    const phase = requirePhase(args.phase as PhaseName)
    const session = await openSession(flags, this.clock)
    if (flags['dry-run']) {
      const {initPlanView} = await import('../../cli/views/init.ts')
      return await this.print(await planInit([phase], session.context), 'table', initPlanView)
    }
    await runSession(session, [phase])
    const {plane, joinToken} = session.context
    if (!joinToken || flags['skip-token-print']) return
    process.stdout.write(`${(await describePlane(plane, joinToken)).joinCommand ?? ''}\n`)
  }
}
