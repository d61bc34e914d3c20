import type {Namespace, Secret} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, messageOf} from '../../errors.ts'
import {sleep} from '../../runtime.ts'
import type {Storage} from '../../storage/storage.ts'
import type {Plane} from '../config/plane.ts'
import {loadPlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {readGeneration} from '../last-rotation.ts'
import {onceAMinute} from '../once-a-minute.ts'
import {readPlaneKey} from '../plane-key.ts'
import {applyShared, type ApplyOptions} from './apply-shared.ts'
import {generationIn, openRotation, ROTATION_SECRET, unusable} from './sealed-rotation.ts'

/** Where the API server keeps these objects. */
const SECRET_KEY = `/registry/core/secrets/${ROTATION_SECRET.namespace}/${ROTATION_SECRET.name}`
const NAMESPACE_KEY = `/registry/core/namespaces/${ROTATION_SECRET.namespace}`

const PAUSE = 2000
/** Whoever holds the lock for longer at the start of a server waits for it: `init`, `join` and `start` do. */
const LOCK_WAIT = 1000

/** Follows what another machine has shared, unless the files of this one are as new. Returns whether they have changed. */
async function follow(
  {dir}: Plane,
  secret: Secret,
  cluster: string,
  options: ApplyOptions,
): Promise<boolean> {
  const generation = generationIn(secret)
  if (generation <= (await readGeneration({dir}))) return false
  const plane = await loadPlane(dir)
  const key = await readPlaneKey(plane)
  if (!key) throw unusable('is for machines that have pki/plane.key, which is missing here')
  const shared = openRotation(secret, {key, cluster})
  await applyShared(plane, shared, options)
  options.log(`the CAs are as on the other servers: generation ${generation} of their rotation`)
  return true
}

const parse = (value: Uint8Array | undefined): unknown =>
  value && JSON.parse(Buffer.from(value).toString())

/** Before a server serves: what it missed while it was off. Throws if it cannot catch up: it would know other CAs than its clients. */
export async function catchUp(
  plane: Plane,
  storage: Pick<Storage, 'get'>,
  options: ApplyOptions,
): Promise<boolean> {
  const secret = parse((await storage.get(SECRET_KEY))?.value) as Secret | undefined
  if (!secret || generationIn(secret) <= (await readGeneration(plane))) return false
  const namespace = parse((await storage.get(NAMESPACE_KEY))?.value) as Namespace | undefined
  const work = () => follow(plane, secret, namespace?.metadata.uid ?? '', options)
  const limit = AbortSignal.timeout(LOCK_WAIT)
  try {
    return await exclusively(plane.dir, work, undefined, limit)
  } catch (error) {
    if (!limit.aborted || !(error instanceof DOMException)) throw error
    return await work()
  }
}

export interface FollowOptions extends ApplyOptions {
  /** Lets the server use what is in its files now. */
  reload: () => Promise<void>
  signal: AbortSignal
}

/** While a server serves: follows the rotations of other machines, until the signal. */
export async function followShared(
  plane: Plane,
  client: Pick<ApiClient, 'namespaces' | 'secrets'>,
  options: FollowOptions,
): Promise<void> {
  const {signal, reload} = options
  // What fails for good is tried again all the time.
  const complain = onceAMinute(options.log, options.clock)
  const {namespace, name} = ROTATION_SECRET
  let isBehind = false
  const see = async (secret: Secret) => {
    if (generationIn(secret) > (await readGeneration(plane))) {
      const {uid = ''} = (await client.namespaces.get(namespace, {signal})).metadata
      const work = () => follow(plane, secret, uid, options)
      if (await exclusively(plane.dir, work, undefined, signal)) isBehind = true
    }
    if (isBehind) await reload()
    isBehind = false
  }
  while (!signal.aborted) {
    try {
      const select = {namespace, fieldSelector: `metadata.name=${name}`, signal}
      for await (const {type, object} of client.secrets.watch(select))
        if (type === 'ADDED' || type === 'MODIFIED') await see(object)
    } catch (error) {
      if (!signal.aborted && !hasCode(error, 'NOT_FOUND'))
        complain(`error: the rotation of another server cannot be followed: ${messageOf(error)}`)
    }
    await sleep(PAUSE, signal).catch(() => undefined)
  }
}
