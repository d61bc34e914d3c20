import {TrustError} from '../errors.ts'
import {lockHolder} from '../storage/store-lock.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** A process that uses the store and is not known as the server: its server.json was removed, or it is only just starting. */
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
