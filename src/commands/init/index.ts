import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {existingFlags, type ExistingFlagValues} from '../../cli/existing-flags.ts'
import {dryRun, output, skipPhases, unitDir} from '../../cli/flags.ts'
import {initFlags} from '../../cli/init-flags.ts'
import {initTokenFlags} from '../../cli/init-token.ts'
import {uploadFlags} from '../../cli/upload-flags.ts'

interface ExistingOptions {
  'skip-phases'?: string[] | undefined
  'dry-run': boolean
  output: string
}

export default class Init extends TrustCommand {
  static override summary =
    'set up a control plane and start its server, or prepare an existing cluster'
  static override description = `Creates the CAs, the certificates and the kubeconfig files, starts the API server in the background, waits until it is ready, publishes how machines find the cluster, and prints the join command for them.
Existing files and objects that are correct are kept: run it again to complete or repeat it. A second run prints the token of the first one while that is valid.

To use your own CA, put ca.crt, and ca.key if it may be on this machine, into the folder of --cert-dir first. Your own certificates and keys are used if they work, and never overwritten without --replace; "reset" does not remove them.

Only one command at a time changes a control plane: a second one waits.

The server stores pods so that kubelets and their tools work. It runs no workloads and does not enforce Pod Security: whoever sets its labels gets a warning.

With --kubeconfig it prepares a cluster that exists already, made by kubeadm or anything else: it publishes cluster-info, kubeadm-config and kubelet-config unless they are there, adds the roles that joining machines need, creates a token and prints the join command. Nothing that is already correct is changed. If no controller of the cluster signs cluster-info, it says so, and how to run ours.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    {
      description: 'On a free port, for scripts:',
      command: '<%= config.bin %> <%= command.id %> --apiserver-bind-port 0 --output json',
    },
    {
      description: 'Behind a load balancer, in another folder:',
      command:
        '<%= config.bin %> <%= command.id %> --dir /srv/plane --control-plane-endpoint api.example.com:6443',
    },
    {
      description: 'Under systemd, as root:',
      command: '<%= config.bin %> <%= command.id %> --systemd',
    },
    {
      description: 'Prepare an existing cluster, so that machines can join:',
      command: '<%= config.bin %> <%= command.id %> --kubeconfig ~/.kube/config',
    },
    {
      description: 'Show what would be done:',
      command: '<%= config.bin %> <%= command.id %> --dry-run',
    },
  ]
  static override flags = {
    ...initFlags,
    ...initTokenFlags,
    ...uploadFlags,
    'skip-phases': skipPhases('init'),
    'dry-run': dryRun,
    foreground: Flags.boolean({
      summary: 'run the server in this process, until it is stopped',
      exclusive: ['dry-run'],
    }),
    systemd: Flags.boolean({
      summary:
        'install and enable a systemd unit that runs the server, so that it survives a reboot',
      exclusive: ['foreground'],
    }),
    'unit-dir': unitDir,
    ...existingFlags,
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(Init)
    const {kubeconfig} = flags
    if (kubeconfig !== undefined) return await this.prepare({...flags, kubeconfig})
    const {openSession, runSession} = await import('../../cli/init-session.ts')
    const {describePlane, initPhases, planInit} = await import('../../control-plane/init/init.ts')
    const {isRunning} = await import('../../control-plane/server-state.ts')
    const {initView} = await import('../../cli/views/init.ts')
    if (flags.systemd) {
      const {requireSystemd} = await import('../../control-plane/systemd.ts')
      await requireSystemd()
    }
    const session = await openSession(flags, this.clock)
    const {systemd} = session.context
    if (systemd) {
      const {requireOwnUnit} = await import('../../control-plane/systemd.ts')
      await requireOwnUnit(session.context.plane, session.context.program, systemd.unitDir)
    }
    const phases = initPhases(session.skipped, {uploads: flags['upload-certs']})
    if (flags['dry-run']) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planInit(phases, session.context), flags.output, planView)
    }
    await runSession(session, phases)
    const {plane, joinToken, uploadedWith} = session.context
    const result = await describePlane(
      plane,
      flags['skip-token-print'] ? undefined : joinToken,
      flags['skip-certificate-key-print'] ? undefined : uploadedWith,
    )
    await this.print(result, flags.output, initView(await isRunning(plane)))
    await session.running()?.ended
  }

  private async prepare(flags: ExistingFlagValues & ExistingOptions): Promise<void> {
    const {existingCommand, existingPhases, planExisting, prepareExisting} =
      await import('../../cli/existing-cluster.ts')
    const names = existingPhases(flags['skip-phases'])
    if (flags['dry-run']) {
      const {planView} = await import('../../cli/views/plan.ts')
      return await this.print(await planExisting(flags, names, this.clock), flags.output, planView)
    }
    const {existingView} = await import('../../cli/views/existing.ts')
    const result = await prepareExisting(flags, names, this.clock)
    const commandFor = (command: string) => existingCommand(flags, command)
    await this.print(result, flags.output, existingView(commandFor))
  }
}
