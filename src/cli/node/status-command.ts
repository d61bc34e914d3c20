import {EXIT} from '../../errors.ts'
import {TrustCommand} from '../command.ts'

/** What `node status` shares with `status` in the folder of a node. */
export abstract class NodeStatusBase extends TrustCommand {
  protected async showNode(
    dir: string,
    flags: {'cert-dir'?: string | undefined; output: string},
  ): Promise<void> {
    const {isOverdue, readNodeStatus} = await import('../../node/agent/node-status.ts')
    const {nodeStatusView} = await import('../views/node-status.ts')
    const status = await readNodeStatus(dir, flags['cert-dir'], this.clock)
    await this.print(status, flags.output, nodeStatusView)
    if (isOverdue(status)) this.endWith(EXIT.due)
  }
}
