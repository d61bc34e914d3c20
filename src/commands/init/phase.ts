import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {existingFlags, type ExistingFlagValues} from '../../cli/existing-flags.ts'
import {dryRun} from '../../cli/flags.ts'
import {initFlags} from '../../cli/init-flags.ts'
import {initTokenFlags} from '../../cli/init-token.ts'
import {uploadFlags} from '../../cli/upload-flags.ts'
import {INIT_PHASE_NAMES, type InitPhaseName} from '../../control-plane/init/names.ts'

export default class InitPhase extends TrustCommand {
  static override summary = 'run one phase of init'
  static override description =
    'Runs one of the phases of "init". Each can be repeated: what is already correct is kept. With --kubeconfig, the phases rbac, kubeadm-config, cluster-info and bootstrap-token work with an existing cluster.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> certs',
    '<%= config.bin %> <%= command.id %> kubeconfig --dry-run',
    '<%= config.bin %> <%= command.id %> cluster-info --kubeconfig ~/.kube/config',
  ]
  static override args = {
    phase: Args.string({
      required: true,
      options: [...INIT_PHASE_NAMES],
      description: 'the phase to run',
    }),
  }
  static override flags = {
    ...initFlags,
    ...initTokenFlags,
    ...uploadFlags,
    'dry-run': dryRun,
    ...existingFlags,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(InitPhase)
    const {kubeconfig} = flags
    if (kubeconfig !== undefined) return await this.prepare({...flags, kubeconfig}, args.phase)
    const {openSession, runSession} = await import('../../cli/init-session.ts')
    const {INIT_PHASES, describePlane, planInit} = await import('../../control-plane/init/init.ts')
    const phase = INIT_PHASES[args.phase as InitPhaseName]
    const session = await openSession(flags, this.clock)
    if (flags['dry-run']) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planInit([phase], session.context), 'table', planView)
    }
    await runSession(session, [phase])
    const {plane, joinToken, uploadedWith} = session.context
    if (uploadedWith !== undefined && !flags['skip-certificate-key-print']) {
      process.stdout.write(`${uploadedWith}\n`)
    }
    if (!joinToken || flags['skip-token-print']) return
    process.stdout.write(`${(await describePlane(plane, joinToken)).joinCommand ?? ''}\n`)
  }

  private async prepare(
    flags: ExistingFlagValues & {'dry-run': boolean},
    phase: string,
  ): Promise<void> {
    const {planExisting, prepareExisting, requireExistingPhase} =
      await import('../../cli/existing-cluster.ts')
    const names = [requireExistingPhase(phase)]
    if (flags['dry-run']) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planExisting(flags, names, this.clock), 'table', planView)
    }
    const {joinCommand} = await prepareExisting(flags, names, this.clock)
    if (joinCommand !== null) process.stdout.write(`${joinCommand}\n`)
  }
}
