import {rm} from 'node:fs/promises'
import {discardPendingKey} from '../../enrollment/pending-key.ts'
import {lookAt, requireReplaceable} from '../../fs/file-checks.ts'
import {syncFolder} from '../../fs/folders.ts'
import {nodeFile} from '../node-files.ts'
import {requireValid} from './prerequisites.ts'
import type {JoinPhase} from './phase.ts'

export const cleanup: JoinPhase = {
  name: 'cleanup',
  summary: 'delete the bootstrap credentials',

  async plan({settings: {dir}}) {
    const path = nodeFile(dir, 'bootstrapKubeconfig')
    return (await lookAt(path)) ? [`delete ${path}`] : []
  },

  async run(context) {
    const {dir} = context.settings
    await context.lock.hold()
    // Until the node has its certificate, they are the only way to authenticate.
    await requireValid(context)
    await discardPendingKey(nodeFile(dir, 'pendingKey'))
    const path = nodeFile(dir, 'bootstrapKubeconfig')
    if (!(await lookAt(path))) return context.tell('there are no bootstrap credentials to delete')
    await requireReplaceable(path)
    await rm(path)
    await syncFolder(dir)
    context.tell(`${path} was deleted: it is no longer needed`)
  },
}
