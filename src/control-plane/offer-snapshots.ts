import {messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {serveSnapshots} from '../storage/snapshot-socket.ts'
import type {Storage} from '../storage/storage.ts'
import {VersionedStorage} from '../storage/versioned-storage.ts'
import {VERSION} from '../version.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** Lets "backup" read the embedded store while it is served. What is in etcd it reads there. */
export async function offerSnapshots(
  plane: Plane,
  storage: Storage,
  {clock, log}: {clock: Clock; log: (line: string) => void},
): Promise<() => Promise<void>> {
  const nothing = () => Promise.resolve()
  if (!(storage instanceof VersionedStorage)) return nothing
  const onError = (error: unknown) =>
    log(`error: cannot serve a snapshot of the store: ${messageOf(error)}`)
  const options = {program: VERSION, now: () => clock.now(), onError}
  try {
    return await serveSnapshots(fileOf(plane, 'store'), storage, options)
  } catch (error) {
    // A server without it is still useful.
    onError(error)
    return nothing
  }
}
