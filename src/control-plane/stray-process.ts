import {TrustError} from '../errors.ts'
import {sleep} from '../runtime.ts'
import {lockHolder} from '../fs/folder-lock.ts'
import {fileOf, type Plane} from './config/plane.ts'
import {findServer, type ServerState} from './server-state.ts'

const PATIENCE = 5000
const PAUSE = 50

/**
 * The server of the folder. One that is just starting uses the store and does not say so yet, as where `init` was killed between the
 * two: it is waited for.
 */
export async function findServerInTime(plane: Plane): Promise<ServerState | undefined> {
  const end = performance.now() + PATIENCE
  for (;;) {
    const server = await findServer(plane)
    if (server !== undefined || performance.now() > end) return server
    if (!(await lockHolder(fileOf(plane, 'store')))) return await findServer(plane)
    await sleep(PAUSE)
  }
}

/** A process that uses the store and is not known as the server: its server.json was removed. */
export async function findStray(plane: Plane): Promise<TrustError | undefined> {
  const holder = await lockHolder(fileOf(plane, 'store'))
  if (!holder) return undefined
  const {pid} = holder
  return new TrustError(
    'STORE_LOCKED',
    `${pid === undefined ? 'a process' : `process ${pid}`} uses the store and does not say that it is the server`,
    {
      hints: [
        `${fileOf(plane, 'server')} is missing: ${pid === undefined ? 'end that process' : `end it with "kill ${pid}"`}, then run the command again`,
      ],
      facts: pid === undefined ? {} : {pid},
    },
  )
}
