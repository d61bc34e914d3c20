import type {Namespace, Secret} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {Backoff, type BackoffOptions} from '../../client/backoff.ts'
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
const LONGEST_PAUSE = 60_000
/** If nothing arrives. */
const IDLE = 3_600_000
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

/**
 * Before a server serves: what it missed while it was off. Throws if it cannot catch up: it would know other CAs than its clients. If only
 * the command of a CA fails, the files are right: the server starts, and runs the command again.
 */
export async function catchUp(
  plane: Plane,
  storage: Pick<Storage, 'get'>,
  options: ApplyOptions,
): Promise<boolean> {
  const secret = parse((await storage.get(SECRET_KEY))?.value) as Secret | undefined
  if (!secret || generationIn(secret) <= (await readGeneration(plane))) return false
  const namespace = parse((await storage.get(NAMESPACE_KEY))?.value) as Namespace | undefined
  const work = async () => {
    try {
      return await follow(plane, secret, namespace?.metadata.uid ?? '', options)
    } catch (error) {
      if (!hasCode(error, 'ON_CHANGE_FAILED')) throw error
      options.log(`error: ${messageOf(error)}; it is run again once the server runs`)
      return true
    }
  }
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
  /** Told why this machine cannot follow, and with undefined when it can again. */
  onProblem?: ((problem: string | undefined) => void) | undefined
  signal: AbortSignal
  backoff?: BackoffOptions | undefined
}

/** While a server serves: follows the rotations of other machines, until the signal. What fails is tried again, or what is newer instead. */
export async function followShared(
  plane: Plane,
  client: Pick<ApiClient, 'namespaces' | 'secrets'>,
  options: FollowOptions,
): Promise<void> {
  const {signal, onProblem = () => undefined} = options
  // What fails for good is tried again all the time.
  const complain = onceAMinute(options.log, options.clock)
  const see = seeing(plane, client, options)
  const backoff = new Backoff({base: PAUSE, max: LONGEST_PAUSE, ...options.backoff})
  let newest: Secret | undefined
  let arrival = new AbortController()
  const watching = async () => {
    const {namespace, name} = ROTATION_SECRET
    const select = {namespace, fieldSelector: `metadata.name=${name}`, signal}
    for await (const {type, object} of client.secrets.watch(select)) {
      if (type !== 'ADDED' && type !== 'MODIFIED') continue
      newest = object
      arrival.abort()
    }
  }
  const fail = (error: unknown) => {
    if (signal.aborted) return
    complain(`error: the rotation of another server cannot be followed: ${messageOf(error)}`)
  }
  const watchAll = async () => {
    while (!signal.aborted) {
      await watching().catch((error: unknown) => {
        if (!hasCode(error, 'NOT_FOUND')) fail(error)
      })
      await sleep(PAUSE, signal).catch(() => undefined)
    }
  }
  const followAll = async () => {
    while (!signal.aborted) {
      const secret = newest
      arrival = new AbortController()
      let pause = IDLE
      try {
        if (secret) await see(secret)
        backoff.reset()
        onProblem(undefined)
      } catch (error) {
        pause = backoff.next()
        fail(error)
        onProblem(messageOf(error))
      }
      await sleep(pause, arrival.signal).catch(() => undefined)
    }
  }
  const stop = () => arrival.abort()
  signal.addEventListener('abort', stop)
  await Promise.all([watchAll(), followAll()])
  signal.removeEventListener('abort', stop)
}

/** One try to follow. */
function seeing(
  plane: Plane,
  client: Pick<ApiClient, 'namespaces'>,
  options: FollowOptions,
): (secret: Secret) => Promise<void> {
  const {signal, reload} = options
  let isBehind = false
  return async (secret) => {
    let failure: unknown
    if (generationIn(secret) > (await readGeneration(plane))) {
      const {uid = ''} = (await client.namespaces.get(ROTATION_SECRET.namespace, {signal})).metadata
      const work = () => follow(plane, secret, uid, options)
      try {
        if (await exclusively(plane.dir, work, undefined, signal)) isBehind = true
      } catch (error) {
        // The files are right. Only who uses them does not know them yet, so that this server does not report to have followed.
        if (!hasCode(error, 'ON_CHANGE_FAILED')) throw error
        isBehind = true
        failure = error
      }
    }
    if (isBehind) await reload()
    isBehind = false
    if (failure !== undefined) throw failure as Error
  }
}
