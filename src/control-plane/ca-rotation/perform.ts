import {hasCode, TrustError} from '../../errors.ts'
import {findServer} from '../server-state.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {DEFAULT_KEY_ALGORITHM, KEY_ALGORITHMS, type KeyAlgorithm} from '../../pki/keys.ts'
import {sleep, type Clock} from '../../runtime.ts'
import {readTrust} from '../../trust/read-trust.ts'
import {trustDigest} from '../../trust/trust-digest.ts'
import type {Trust} from '../../trust/trust.ts'
import {CLUSTER_CA, rootsOf} from '../certificates.ts'
import {etcdOf} from '../config/etcd.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {writeBundles} from '../kubeconfig-bundles.ts'
import {reloadServer} from '../server-process.ts'
import {serversBehind} from '../server-report.ts'
import {trustSources} from '../signing.ts'
import {arrange} from './arrange.ts'
import type {Dependent} from './dependent.ts'
import {dependentsOn} from './dependents.ts'
import {gatherEvidence, OWN_USERS} from './evidence.ts'
import {createCross, createNew, keepAndCreateKeys, keepOld, type Which} from './generations.ts'
import type {Action, Journal} from './journal.ts'
import {withExpiry} from './expiry.ts'
import {runHooks} from './hooks.ts'
import {objectsBehind} from './published.ts'
import {requireOneServer} from './one-server.ts'
import {removeGenerations} from './remove.ts'
import {renewLeaves} from './renew-leaves.ts'
import type {Step, StepWork} from './steps.ts'
import {unitFor} from './units.ts'
import {deleteUploadedCopies} from './uploaded-copies.ts'

/** What the steps work with. */
export interface RotationContext {
  plane: Plane
  clock: Clock
  tell: (line: string) => void
  warn: (line: string) => void
  connect: (plane: Plane) => Promise<ApiClient>
  /** CAs that an operator brings along, by id. */
  brought?: ReadonlyMap<string, {certificatePem: string; keyPem: string}>
  /** Names that an operator has taken responsibility for. */
  ignored?: readonly string[]
  unseenFor?: number | undefined
  /** Whether nobody is waited for. */
  force?: boolean
  /** Gets the number of nodes each time they are looked at. */
  sawNodes?: ((count: number) => void) | undefined
  signal?: AbortSignal | undefined
}

const PAUSE = 50
const SIGNAL_EVERY = 3000
const LONGEST_WAIT = 60_000

export async function withClient<Result>(
  {plane, connect}: Pick<RotationContext, 'plane' | 'connect'>,
  work: (client: ApiClient) => Promise<Result>,
): Promise<Result> {
  const client = await connect(plane)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

const unitsIn = (plane: Plane, {units}: Journal) => units.map((record) => unitFor(plane, record))

const algorithmOf = (name: string | undefined): KeyAlgorithm =>
  KEY_ALGORITHMS.find((one) => one === name) ?? DEFAULT_KEY_ALGORITHM

async function create({plane, clock, brought}: RotationContext, journal: Journal): Promise<void> {
  const {caCertificateValidityPeriod: lifetime, keyAlgorithm} = plane.settings
  const algorithm = algorithmOf(journal.keyAlgorithm ?? keyAlgorithm)
  const now = clock.now()
  for (const unit of unitsIn(plane, journal)) {
    if (!unit.spec) {
      await keepAndCreateKeys(plane, algorithm)
      continue
    }
    await keepOld(plane, unit)
    await createNew(plane, unit, {now, algorithm, lifetime, brought: brought?.get(unit.id)})
    if (unit.id === CLUSTER_CA) await createCross(plane, unit, now)
  }
}

async function arrangeAll(
  {plane, tell}: RotationContext,
  journal: Journal,
  {clients, servers, trusts}: Extract<StepWork, {kind: 'arrange'}>,
): Promise<void> {
  for (const unit of unitsIn(plane, journal)) {
    const signs = unit.signsFrom === 'start' ? clients : servers
    if (await arrange(plane, unit, {signs, trusts}))
      tell(`"${unit.id}": the ${signs} one signs; trusted: ${trusts.join(' and ')}`)
  }
}

/** Reads what is on the disk as a server would. */
const readWanted = async (plane: Plane): Promise<Trust> => readTrust(await trustSources(plane), 1)

/** Looks again and again, with signals to the server, which may have been restarted in the meantime. */
async function poll(
  context: RotationContext,
  journal: Journal,
  what: string,
  behind: (client: ApiClient) => Promise<string[]>,
): Promise<void> {
  const {plane, clock} = context
  const end = performance.now() + LONGEST_WAIT
  let signalAt = 0
  for (;;) {
    if (performance.now() >= signalAt) {
      if (!(await reloadServer(plane))) throw notRunning()
      signalAt = performance.now() + SIGNAL_EVERY
    }
    const waiting = await withClient(context, behind).catch(whileChanging)
    if (waiting.length === 0) return
    // Nobody can follow any more: the caller goes on with the steps for that.
    if (withExpiry(journal, clock.now()) !== journal) return
    if (performance.now() > end) throw tooLate(plane, what, waiting)
    await sleep(PAUSE)
  }
}

/** Until the server has reread its files, it may present or refuse what has expired. */
function whileChanging(error: unknown): string[] {
  const isPassing = hasCode(
    error,
    'SERVER_CERTIFICATE_EXPIRED',
    'SERVER_NOT_TRUSTED',
    'SERVER_UNREACHABLE',
    'UNAUTHORIZED',
  )
  if (isPassing) return [error.message]
  throw error
}

function notRunning(): TrustError {
  return new TrustError('SERVER_UNREACHABLE', 'the server of this control plane is not running', {
    hints: ['start it with "trustadm start", then run the command again: it resumes'],
  })
}

function tooLate(plane: Plane, what: string, waiting: readonly string[]): TrustError {
  const shown = waiting.slice(0, 5).join(', ')
  return new TrustError(
    'TIMED_OUT',
    `${what} within ${LONGEST_WAIT / 1000} s: ${shown}${waiting.length > 5 ? ` and ${waiting.length - 5} more` : ''}`,
    {hints: [`look at ${fileOf(plane, 'log')}`, 'run the command again: it resumes']},
  )
}

/** Who depends on a generation of the CAs now. */
export async function readDependents(
  context: RotationContext,
  journal: Journal,
  on: Which,
): Promise<Dependent[]> {
  const {plane, clock, warn, ignored = [], unseenFor, sawNodes} = context
  const evidence = await withClient(context, (client) => gatherEvidence(plane, client, warn))
  sawNodes?.(evidence.nodes.length)
  return dependentsOn(journal, evidence, {on, now: clock.now(), own: OWN_USERS, ignored, unseenFor})
}

/** Does one step. Returns who is still waited for; the step is done if that is nobody. */
export async function perform(
  context: RotationContext,
  journal: Journal,
  {id, work}: Step,
): Promise<Dependent[]> {
  const {plane} = context
  switch (work.kind) {
    case 'create':
      await create(context, journal)
      break
    case 'arrange':
      await arrangeAll(context, journal, work)
      break
    case 'renew':
      await renewLeaves({...context, journal}, work.leaves)
      break
    case 'kubeconfigs':
      await writeBundles(plane, (await rootsOf(plane)) ?? '')
      break
    case 'servers': {
      // Programs that use the CAs of an operator follow in the same steps as the servers.
      await runHooks(plane, unitsIn(plane, journal), {...context, step: id})
      const digest = trustDigest(await readWanted(plane))
      await poll(
        context,
        journal,
        'not every server has followed',
        async (client) => (await serversBehind(client, digest)) ?? ['no server has reported'],
      )
      break
    }
    case 'published': {
      const wanted = await readWanted(plane)
      await poll(context, journal, 'the CAs were not published everywhere', (client) =>
        objectsBehind(client, wanted),
      )
      break
    }
    case 'uploaded':
      await poll(
        context,
        journal,
        'the uploaded copies of keys were not deleted',
        async (client) => {
          await deleteUploadedCopies(client)
          return []
        },
      )
      break
    case 'dependents': {
      if (context.force) break
      const found = await readDependents(context, journal, work.on)
      // Only nodes are waited for at the start: people change their kubeconfigs when they can.
      return journal.action === 'start' ? found.filter(({kind}) => kind === 'node') : found
    }
    case 'remove':
      await removeGenerations(plane, work.generation)
      break
  }
  return []
}

/** Whether a step may change files, so that other commands are kept out meanwhile. */
export const changesFiles = ({work}: Step): boolean =>
  ['create', 'arrange', 'renew', 'kubeconfigs', 'remove'].includes(work.kind)

/** Refuses what cannot begin now. A server that nobody can talk to because of its expired CA is not asked. */
export async function requireBeginnable(context: RotationContext, action: Action): Promise<void> {
  const {plane, clock} = context
  if (!(await findServer(plane))) throw notRunning()
  // Only an etcd can be shared.
  if (action !== 'start' || !etcdOf(plane.settings)) return
  await withClient(context, (client) => requireOneServer(client, clock)).catch(whileChanging)
}
