import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun} from '../../cli/flags.ts'
import {initFlags} from '../../cli/init-flags.ts'
import {initTokenFlags} from '../../cli/init-token.ts'
import {INIT_PHASE_NAMES, type InitPhaseName} from '../../control-plane/init/names.ts'

export default class InitPhase extends TrustCommand {
  static override summary = 'run one phase of init'
  static override description =
    'Runs one of the phases of "init". Each can be repeated: what is already correct is kept.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> certs',
    '<%= config.bin %> <%= command.id %> kubeconfig --dry-run',
  ]
  static override args = {
    phase: Args.string({
      required: true,
      options: [...INIT_PHASE_NAMES],
      description: 'the phase to run',
    }),
  }
  static override flags = {...initFlags, ...initTokenFlags, 'dry-run': dryRun}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(InitPhase)
    const {openSession, runSession} = await import('../../cli/init-session.ts')
    const {INIT_PHASES, describePlane, planInit} = await import('../../control-plane/init/init.ts')
    const phase = INIT_PHASES[args.phase as InitPhaseName]
    const session = await openSession(flags, this.clock)
    if (flags['dry-run']) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planInit([phase], session.context), 'table', planView)
    }
    await runSession(session, [phase])
    const {plane, joinToken} = session.context
    if (!joinToken || flags['skip-token-print']) return
    process.stdout.write(`${(await describePlane(plane, joinToken)).joinCommand ?? ''}\n`)
  }
}
