import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {existingFlags, type ExistingFlagValues} from '../../cli/existing-flags.ts'
import {dryRun} from '../../cli/flags.ts'
import {initFlags} from '../../cli/init-flags.ts'
import {initTokenFlags} from '../../cli/init-token.ts'
import {uploadFlags} from '../../cli/upload-flags.ts'
import {
  CERT_NAMES,
  INIT_PHASE_NAMES,
  type CertName,
  type InitPhaseName,
} from '../../control-plane/init/names.ts'

export default class InitPhase extends TrustCommand {
  static override summary = 'run one phase of init'
  static override description =
    'Runs one of the phases of "init". Each can be repeated: what is already correct is kept. With --kubeconfig, the phases rbac, kubeadm-config, cluster-info and bootstrap-token work with an existing cluster.\n\n"certs etcd" creates a CA and certificates for an etcd that you start yourself, and prints the command that starts it. "init --etcd-servers" then uses them, unless you name other files.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> certs',
    '<%= config.bin %> <%= command.id %> certs etcd',
    '<%= config.bin %> <%= command.id %> kubeconfig --dry-run',
    '<%= config.bin %> <%= command.id %> cluster-info --kubeconfig ~/.kube/config',
  ]
  static override args = {
    phase: Args.string({
      required: true,
      options: [...INIT_PHASE_NAMES],
      description: 'the phase to run',
    }),
    name: Args.string({
      // The standard input may be a token or a key.
      ignoreStdin: true,
      options: [...CERT_NAMES],
      description:
        'of the phase certs, which certificate to create [default: all but those of etcd]',
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
    const {requireWholePhase} = await import('../../cli/whole-phase.ts')
    // The parser would list the parts of certs.
    requireWholePhase(this.argv)
    const {args, flags} = await this.parse(InitPhase)
    const {kubeconfig} = flags
    const name = args.phase === 'certs' ? (args.name as CertName | undefined) : undefined
    if (kubeconfig !== undefined) return await this.prepare({...flags, kubeconfig}, args.phase)
    const {openSession, runSession} = await import('../../cli/init-session.ts')
    const {INIT_PHASES, describePlane, planInit} = await import('../../control-plane/init/init.ts')
    const {certsOf} = await import('../../control-plane/init/certs.ts')
    const phase = name === undefined ? INIT_PHASES[args.phase as InitPhaseName] : certsOf(name)
    const session = await openSession(flags, this.clock)
    if (flags['dry-run']) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planInit([phase], session.context), 'table', planView)
    }
    await runSession(session, [phase])
    const {plane, joinToken, uploadedWith} = session.context
    if (name === 'etcd') {
      const {etcdSteps} = await import('../../cli/views/etcd-steps.ts')
      process.stdout.write(await etcdSteps(plane))
    }
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
