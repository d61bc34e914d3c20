import type {ClusterFlagValues} from '../cluster.ts'
import {TrustCommand} from '../command.ts'

export interface LeaveFlags extends Omit<ClusterFlagValues, 'dir'> {
  'cert-dir'?: string | undefined
  yes: boolean
  'dry-run': boolean
  output: string
}

/** What `node leave` shares with `reset` in the folder of a node. */
export abstract class LeaveCommand extends TrustCommand {
  protected async leave(dir: string, flags: LeaveFlags): Promise<void> {
    const {leave, planLeave} = await import('../../node/leave.ts')
    const {leavePlanView, leaveView} = await import('../views/leave.ts')
    const {limitOf} = await import('../with-cluster.ts')
    const {'cert-dir': certDir, kubeconfig, context, cluster, user} = flags
    const timeout = limitOf(flags)
    const operator =
      kubeconfig === undefined ? undefined : {kubeconfig, context, cluster, user, timeout}
    const folder = await planLeave(dir, certDir)
    if (flags['dry-run']) {
      const {findUnit} = await import('../../node/systemd-unit.ts')
      const {nodeFile} = await import('../../node/node-files.ts')
      const unit = (await findUnit(nodeFile(dir, 'unitNote'))) ?? null
      return await this.print({...folder, unit}, flags.output, leavePlanView)
    }

    const {confirm} = await import('../prompt.ts')
    const {nodeName} = folder
    const what = nodeName === undefined ? 'the node' : `the node "${nodeName}"`
    const question = `Take ${what} out of its cluster, and remove its certificate and key from this machine?`
    if (!flags.yes && !(await confirm(question))) {
      process.stderr.write('Nothing was changed.\n')
      return this.endWith(1)
    }
    const report = await leave(dir, certDir, {clock: this.clock, operator})
    await this.print(report, flags.output, leaveView)
  }
}
