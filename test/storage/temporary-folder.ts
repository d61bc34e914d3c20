import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'

export async function temporaryFolder(): Promise<{folder: string; remove: () => Promise<void>}> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-store-'))
  return {folder, remove: () => rm(folder, {recursive: true, force: true})}
}
