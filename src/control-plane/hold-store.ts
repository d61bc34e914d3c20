import {planeCommand} from './plane-command.ts'
import {hasCode, TrustError} from '../errors.ts'
import {lookAt} from '../fs/file-checks.ts'
import {lockFolder} from '../fs/folder-lock.ts'
import {ensureFolder} from '../fs/folders.ts'
import {fileOf} from './config/plane.ts'
import {findServerInTime, findStray} from './server-state.ts'

/** Keeps a server from starting until the returned function is called. */
export async function holdStore(dir: string): Promise<() => Promise<void>> {
  const store = fileOf({dir}, 'store')
  if (await lookAt(fileOf({dir}, 'config'))) await ensureFolder(store)
  // Without settings no server starts.
  else if (!(await lookAt(store))) return () => Promise.resolve()
  try {
    return await lockFolder(store)
  } catch (error) {
    if (!hasCode(error, 'STORE_LOCKED')) throw error
    throw (await findStray({dir})) ?? error
  }
}

/** The same, for work that needs the server to be stopped already. */
export async function holdStopped(dir: string): Promise<() => Promise<void>> {
  const running = await findServerInTime({dir})
  if (!running) return await holdStore(dir)
  throw new TrustError('CONFLICT', `the server is running, as process ${running.pid}`, {
    hints: [`stop it with "${planeCommand(dir, 'stop')}", then run the command again`],
    facts: {pid: running.pid},
  })
}
