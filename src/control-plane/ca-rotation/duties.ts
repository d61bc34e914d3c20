import type {ConfigMap} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, messageOf} from '../../errors.ts'
import {type Clock, sleep} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import {loadPlane} from '../config/stored.ts'
import type {ServeOptions} from '../serve.ts'
import {readLastRotation} from '../last-rotation.ts'
import {onceAMinute} from '../once-a-minute.ts'
import {type Action, readJournal} from './journal.ts'
import type {RotationContext} from './rotation-context.ts'
import {isShared} from './share.ts'
import {IGNORE, OPERATION, publishStatus, ROTATION_MAP, statusOf} from './status-map.ts'

/**
 * What a server does for rotations: annotations trigger them, their state is shown while they wait, and it follows those of other machines
 * on the same etcd.
 */
export function rotationDuties(
  plane: Plane,
  options: {clock: Clock; log: (line: string) => void},
): Pick<ServeOptions, 'alongside' | 'beforeServing' | 'rotationProblem'> {
  if (!isShared(plane)) {
    return {
      alongside: (client, {signal}) => attend(plane, client, {...options, signal}),
    }
  }
  let problem: string | undefined
  const onProblem = (found: string | undefined) => (problem = found)
  return {
    rotationProblem: () => problem,
    beforeServing: async (storage) =>
      await (await import('./follow-shared.ts')).catchUp(plane, storage, options),
    alongside: async (client, {signal, reload}) => {
      const {followShared} = await import('./follow-shared.ts')
      await Promise.all([
        attend(plane, client, {...options, signal}),
        followShared(plane, client, {...options, signal, reload, onProblem}),
      ])
    },
  }
}

/** The values of the annotation. */
const OPERATIONS: Readonly<Record<string, Action>> = {
  'start-ca-rotation': 'start',
  'complete-ca-rotation': 'complete',
}

interface TriggerOptions {
  clock: Clock
  log: (line: string) => void
  signal: AbortSignal
}

const PAUSE = 5000
/** An annotation holds at most 256 KiB, and people read it. */
const LONGEST_REFUSAL = 2000

async function contextOf(
  {dir}: Plane,
  client: ApiClient,
  {clock, log}: Pick<TriggerOptions, 'clock' | 'log'>,
): Promise<RotationContext> {
  return {
    plane: await loadPlane(dir),
    clock,
    tell: log,
    warn: log,
    connect: () => Promise.resolve({...client, close: () => Promise.resolve()}),
  }
}

/** What an annotation asks for. */
interface Asked {
  operation: string
  /** As `--ignore` takes it. */
  ignored: string[]
}

const askedIn = (annotations: Readonly<Record<string, string>> = {}): Asked | undefined => {
  const {[OPERATION]: operation, [IGNORE]: ignored = ''} = annotations
  if (operation === undefined) return undefined
  return {operation, ignored: ignored.split(',').flatMap((name) => name.trim() || [])}
}

/** Does what an annotation asks for. The reason of a refusal is written to another annotation; the first one is removed either way. */
async function answer(
  plane: Plane,
  client: ApiClient,
  {operation: wanted, ignored}: Asked,
  {clock, log, signal}: TriggerOptions,
): Promise<void> {
  const action = OPERATIONS[wanted]
  // Each server on the same etcd sees it; the one that takes it off does what it asks for.
  if (isShared(plane) && !(await takeOff(client, wanted))) return
  const context = {
    ...(await contextOf(plane, client, {clock, log})),
    ...(action === 'complete' && {ignored}),
  }
  const observer = {begin: () => undefined, end: () => undefined, waiting: () => undefined}
  try {
    if (!action) throw new Error(`unknown operation; use ${Object.keys(OPERATIONS).join(' or ')}`)
    log(`the annotation ${OPERATION}=${wanted} was found`)
    // Most servers never rotate a CA: the HTTP client and all else that it needs would double what they load at the start.
    const {rotate} = await import('./rotate.ts')
    await rotate(context, action, {wait: false, observer, isTriggered: true, signal})
    log(`${wanted}: done`)
  } catch (error) {
    // Whoever stops the server may hold the lock that this waited for. The journal has what is left to do.
    if (signal.aborted) return log(`${wanted}: interrupted`)
    log(`error: ${wanted}: ${messageOf(error)}`)
    const status = statusOf(await readJournal(plane))
    const refusal = `${wanted.slice(0, 100)}: ${messageOf(error).slice(0, LONGEST_REFUSAL)}`
    await publishStatus(client, status, {isTriggered: true, refusal})
  }
}

/** Removes the annotation. Returns false if another server was faster. */
async function takeOff({configMaps}: ApiClient, wanted: string): Promise<boolean> {
  const found = await configMaps.find(ROTATION_MAP)
  const {[OPERATION]: asked, [IGNORE]: _, ...annotations} = found?.metadata.annotations ?? {}
  if (!found || asked !== wanted) return false
  try {
    await configMaps.update({...found, metadata: {...found.metadata, annotations}})
    return true
  } catch (error) {
    if (hasCode(error, 'CONFLICT', 'NOT_FOUND')) return false
    throw error
  }
}

/** Between two looks at who is waited for: at least so long, and so many times as long as a look takes. */
const LOOK_EVERY = 5000
const LOOKS_COST = 20
const LONGEST_PAUSE = 60_000
/** If the journal knows of no rotation in progress. */
const IDLE = 3_600_000

const isInProgress = (phase: string | undefined): boolean =>
  phase === 'Prepare' || phase === 'Finalize'

/** Attends to the rotation's ConfigMap until the signal. */
async function attend(plane: Plane, client: ApiClient, options: TriggerOptions): Promise<void> {
  const {signal} = options
  let change = new AbortController()
  let isShown = false
  const seen = ({data}: ConfigMap) => {
    isShown = /^ *phase: (?:Prepare|Finalize)$/m.test(data?.status ?? '')
    change.abort()
  }
  const stop = () => change.abort()
  signal.addEventListener('abort', stop)
  const keep = async () => {
    const complain = onceAMinute(options.log, options.clock)
    while (!signal.aborted) {
      change = new AbortController()
      let pause = IDLE
      try {
        if (isShown || isInProgress((await readLastRotation(plane))?.phase)) {
          const began = performance.now()
          const {refreshState} = await import('./refresh-state.ts')
          const context = {...(await contextOf(plane, client, options)), signal}
          if (await refreshState(context))
            pause = Math.min((performance.now() - began) * LOOKS_COST, LONGEST_PAUSE)
        }
      } catch (error) {
        if (!signal.aborted)
          complain(`error: the state of the rotation is not shown: ${messageOf(error)}`)
        pause = LONGEST_PAUSE
      }
      await sleep(LOOK_EVERY, signal).catch(() => undefined)
      await sleep(Math.max(0, pause - LOOK_EVERY), change.signal).catch(() => undefined)
    }
  }
  await Promise.all([followTriggers(plane, client, options, seen), keep()])
  signal.removeEventListener('abort', stop)
}

/** Follows the annotation of the rotation's ConfigMap until the signal. */
async function followTriggers(
  plane: Plane,
  client: ApiClient,
  options: TriggerOptions,
  seen: (map: ConfigMap) => void,
): Promise<void> {
  const {signal, log} = options
  const {namespace, name} = ROTATION_MAP
  const see = async (map: ConfigMap) => {
    seen(map)
    const asked = askedIn(map.metadata.annotations)
    if (asked) await answer(plane, client, asked, options)
  }
  while (!signal.aborted) {
    try {
      const select = {namespace, fieldSelector: `metadata.name=${name}`, signal}
      for await (const {type, object} of client.configMaps.watch(select)) {
        if (type === 'ADDED' || type === 'MODIFIED') await see(object)
      }
    } catch (error) {
      if (!signal.aborted) log(`error: following ${namespace}/${name}: ${messageOf(error)}`)
    }
    await sleep(PAUSE, signal).catch(() => undefined)
  }
}
