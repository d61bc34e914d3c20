import {DEFAULT_KEY_ALGORITHM, KEY_ALGORITHMS, type KeyAlgorithm} from '../../pki/keys.ts'
import {CLUSTER_CA, rootsOf} from '../certificates.ts'
import type {Plane} from '../config/plane.ts'
import {writeBundles} from '../kubeconfig-bundles.ts'
import {arrange} from './arrange.ts'
import type {Dependent} from './dependent.ts'
import {dependentsOn, isUnreportedNewcomer} from './dependents.ts'
import {trustOfMembers, untilEtcdFollows} from './etcd-members.ts'
import {isLost} from './expiry.ts'
import {gatherEvidence, OWN_USERS} from './evidence.ts'
import {createCross, createNew, keepAndCreateKeys, keepOld, type Which} from './generations.ts'
import {poll, readWanted, untilServersFollow} from './hand-over.ts'
import {runHooks} from './hooks.ts'
import type {Journal} from './journal.ts'
import {objectsBehind} from './published.ts'
import {deleteUploadedCopies, removeGenerations} from './remove.ts'
import {renewLeaves} from './renew-leaves.ts'
import {withClient, type RotationContext} from './rotation-context.ts'
import {isShared} from './share.ts'
import {readWaitedFor} from './still-trusting.ts'
import {renewCopies} from './shared-etcd.ts'
import type {Step, StepWork} from './steps.ts'
import {isHere} from './target.ts'
import {rotatesEtcd, unitFor} from './units.ts'
import {withWaitingRequests} from './waiting-requests.ts'

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
    // Another machine may have begun, with the CA of its etcd.
    if (!(await isHere(plane, unit))) continue
    const signs = unit.signsFrom === 'start' ? clients : servers
    if (await arrange(plane, unit, {signs, trusts}))
      tell(`"${unit.id}": the ${signs} one signs; trusted: ${trusts.join(' and ')}`)
  }
}

/** Who depends on a generation of the CAs now. */
export async function readDependents(
  context: RotationContext,
  journal: Journal,
  on: Which,
): Promise<Dependent[]> {
  const {plane, clock, warn, ignored = [], unseenFor, sawNodes, reach} = context
  return await withClient(context, async (client) => {
    const evidence = await gatherEvidence(plane, client, {clock, warn, reach})
    sawNodes?.(evidence.nodes.length)
    const now = clock.now()
    const etcd = on === 'old' && rotatesEtcd(journal) ? await trustOfMembers(plane, now) : []
    const options = {on, now, own: OWN_USERS, ignored, unseenFor}
    return await withWaitingRequests(client, dependentsOn(journal, {...evidence, etcd}, options))
  })
}

/** The nodes that do not know the new CAs yet, or have certificates of old ones. */
export async function readNodesBehind(
  context: RotationContext,
  journal: Journal,
): Promise<Dependent[]> {
  const {plane, clock, warn, reach} = context
  const evidence = await withClient(context, async (client) => {
    const {items: nodes} = await client.nodes.list()
    context.sawNodes?.(nodes.length)
    // Of the others, their own reports tell enough.
    if (nodes.some((node) => isUnreportedNewcomer(journal, node)))
      return await gatherEvidence(plane, client, {clock, warn, reach})
    const nobody = {dropped: 0, forgotten: [], clients: []}
    return {nodes, seen: {since: '', ...nobody, tokens: nobody}, issued: []}
  })
  const options = {on: 'old', now: clock.now(), own: OWN_USERS} as const
  return dependentsOn(journal, evidence, options).filter(({kind}) => kind === 'node')
}

/** Does one step. Returns who is still waited for; the step is done if that is nobody. */
export async function perform(
  context: RotationContext,
  journal: Journal,
  {id, work}: Step,
): Promise<Dependent[]> {
  const {plane} = context
  const isEnding = isLost(journal, context.clock.now())
  switch (work.kind) {
    case 'create':
      await create(context, journal)
      break
    case 'arrange':
      await arrangeAll(context, journal, work)
      if (!isEnding) await renewCopies({...context, journal})
      break
    case 'renew':
      // What an expired CA signs is valid for nobody: the next rotation renews them.
      if (isEnding) break
      await renewLeaves({...context, journal}, work.leaves)
      await renewCopies({...context, journal})
      break
    case 'kubeconfigs':
      await writeBundles(plane, (await rootsOf(plane)) ?? '')
      break
    case 'servers': {
      // Programs that use the CAs of an operator follow in the same steps as the servers.
      await runHooks(plane, unitsIn(plane, journal), {...context, step: id})
      await untilServersFollow(context, journal)
      if (journal.action === 'complete') await untilEtcdFollows(context, journal)
      break
    }
    case 'others':
      if (isShared(plane)) await untilServersFollow(context, journal)
      break
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
      if (context.force || isEnding) break
      // Only nodes are waited for at the start: people change their kubeconfigs when they can.
      if (journal.action !== 'start') return await readDependents(context, journal, work.on)
      const behind = await readNodesBehind(context, journal)
      return await withClient(context, (client) => withWaitingRequests(client, behind))
    }
    case 'distrusted':
      return context.endsWait || isEnding ? [] : await readWaitedFor(context, journal)
    case 'remove':
      await removeGenerations(plane, work.generation)
      break
  }
  return []
}

/** Whether a step may change files, so that other commands are kept out meanwhile. */
export const changesFiles = ({work}: Step): boolean =>
  ['create', 'arrange', 'renew', 'kubeconfigs', 'remove'].includes(work.kind)
