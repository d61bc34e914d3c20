import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../cli/cluster.ts'
import {TrustCommand} from '../cli/command.ts'
import type {ManifestFlags} from '../cli/controller-manifests.ts'
import {controllers, deny, readServingFlags, servingFlags} from '../cli/controller-flags.ts'
import {signingFlags} from '../cli/signing-flags.ts'
import {VERSION} from '../version.ts'

interface ChosenFlags extends Omit<ManifestFlags, 'image'> {
  controllers: string[]
  image?: string | undefined
  quiet: boolean
  verbose: boolean
}

export default class Controllers extends TrustCommand {
  static override summary = 'run controllers in the foreground, against any cluster'
  static override description = `Approves, signs and cleans up certificate requests, signs cluster-info and removes expired tokens in a cluster whose own control plane does not. It has only the rights of the kubeconfig, and warns at the start about any that are missing.

If several processes run the same controller, one works and the others wait, using a Lease in trustadm-system.
In a pod without a kubeconfig it uses the pod's service account. --print-rbac prints the account and the roles that the chosen controllers need, --deployment a Deployment that runs them; both together print both, for "kubectl apply -f -".
SIGTERM and SIGINT end it; SIGHUP rereads the CAs. Prints one line, "ready" and the controllers, on the standard output; the log goes to the standard error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --kubeconfig approver.conf --controllers csr-approver,kubelet-serving-approver',
    '<%= config.bin %> <%= command.id %> --controllers bootstrap-signer,token-cleaner --print-rbac --deployment | kubectl apply -f -',
    '<%= config.bin %> <%= command.id %> --kubeconfig signer.conf --controllers csrsigning --cluster-signing-cert-file ca.crt --cluster-signing-key-file ca.key --issuance-log issuance.log',
  ]
  static override flags = {
    ...clusterFlags,
    controllers,
    deny,
    ...servingFlags,
    'leader-elect': Flags.boolean({
      allowNo: true,
      default: true,
      summary: 'wait for the lease of a controller before it works',
    }),
    'issuance-log': Flags.string({
      helpGroup: 'SIGNING',
      helpValue: '<file>',
      summary:
        'file in which csr-signer records what it issues and refuses; required for csr-signer',
    }),
    ...signingFlags,
    'print-rbac': Flags.boolean({
      helpGroup: 'MANIFEST',
      summary:
        'print a service account with the rights that these controllers need, and run nothing',
    }),
    deployment: Flags.boolean({
      helpGroup: 'MANIFEST',
      summary: 'print a Deployment that runs these controllers in a cluster, and run nothing',
    }),
    image: Flags.string({
      helpGroup: 'MANIFEST',
      helpValue: '<image>',
      dependsOn: ['deployment'],
      summary: `the image of the Deployment, whose entry point is trustadm [default: trustadm:${VERSION}]`,
    }),
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(Controllers)
    if (flags['print-rbac'] || flags.deployment) return await this.printManifests(flags)
    const {PORTABLE_CONTROLLERS} = await import('../controllers/catalog.ts')
    const {selectControllers} = await import('../controllers/selection.ts')
    const {runControllers, untilSignalled} = await import('../control-plane/run-controllers.ts')
    const {openServerLog} = await import('../cli/server-log.ts')
    const {readSigningFlags} = await import('../cli/signing-flags.ts')
    const {withCluster} = await import('../cli/with-cluster.ts')
    const chosen = selectControllers(PORTABLE_CONTROLLERS, flags.controllers)
    const signing = await readSigningFlags(flags)
    const serving = await readServingFlags(flags)
    const log = openServerLog({clock: this.clock, quiet: flags.quiet})
    await withCluster(flags, async ({client}) => {
      const running = await runControllers({
        client,
        controllers: chosen,
        signing,
        issuanceLog: flags['issuance-log'],
        serving: {deny: flags.deny, ...serving},
        leaderElection: flags['leader-elect'],
        clock: this.clock,
        log,
      })
      const ended = untilSignalled(running, log)
      // Last: whoever reads it may send signals at once.
      process.stdout.write(`ready ${chosen.join(',')}\n`)
      await ended
    })
  }

  private async printManifests(flags: ChosenFlags): Promise<void> {
    const {PORTABLE_CONTROLLERS} = await import('../controllers/catalog.ts')
    const {selectControllers} = await import('../controllers/selection.ts')
    const {controllerManifests} = await import('../cli/controller-manifests.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const chosen = selectControllers(PORTABLE_CONTROLLERS, flags.controllers)
    const isAll = flags.controllers.includes('*')
    const {warn} = createProgress(flags)
    process.stdout.write(
      await controllerManifests({...flags, image: flags.image ?? `trustadm:${VERSION}`}, chosen, {
        isNamed: (name) => !isAll && chosen.includes(name),
        warn,
      }),
    )
  }
}
