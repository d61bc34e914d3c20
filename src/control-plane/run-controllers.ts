import {randomUUID} from 'node:crypto'
import {hostname} from 'node:os'
import {type ApiClient, isOwnServer} from '../client/api-client.ts'
import {shellWord} from '../client/printable.ts'
import {PORTABLE_CONTROLLERS, type PortableDeps} from '../controllers/catalog.ts'
import {controllersOf, startAll, type RunningControllers} from '../controllers/index.ts'
import {
  LEADER_PERMISSIONS,
  PERMISSIONS,
  REVOCATION_PERMISSIONS,
  formatPermission,
  missingPermissions,
  signPermissions,
} from '../controllers/permissions.ts'
import {carryOverRecords} from '../controllers/own-namespace.ts'
import {TrustError, messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {Reloadable} from '../trust/live.ts'
import {readSigning} from '../trust/read-trust.ts'
import type {SigningAuthorities} from '../trust/trust.ts'
import {startAsLeader} from './leading.ts'
import {describeSigners, reportSigners} from './named-signers.ts'
import {onceAMinute} from './once-a-minute.ts'
import {servingPolicy, type ServingChoices} from './serving-policy.ts'
import {namedSigners, signersOf, type SigningSettings} from './signing.ts'
import {WatchedLog} from './watched-log.ts'

export interface RunOptions {
  client: ApiClient
  /** Their names in PORTABLE_CONTROLLERS. */
  controllers: readonly string[]
  signing: SigningSettings
  /** Only for the signer. */
  issuanceLog?: string | undefined
  serving: ServingChoices
  /** Whether each controller waits for its Lease before it works. */
  leaderElection: boolean
  clock: Clock
  log: (line: string) => void
}

export interface RunningOutside {
  /** Switches to the CAs on the disk. If they cannot be used, the old ones stay. */
  reload(): Promise<void>
  close(): Promise<void>
}

const SIGNER = 'csr-signer'
const KEEP_RECORDS = ['csr-approver', 'machine-approver']

interface Signing {
  authorities: SigningAuthorities
  deps: NonNullable<PortableDeps['signing']>
  watched: WatchedLog
  names: readonly string[]
  reload(): Promise<void>
  close(): Promise<void>
}

function usage(message: string, ...hints: string[]): TrustError {
  return new TrustError('USAGE', message, {
    hints: [...hints, 'or leave the signer out, as in --controllers "*,-csr-signer"'],
  })
}

async function prepareSigning(options: RunOptions): Promise<Signing | undefined> {
  const {controllers, signing, issuanceLog, clock, log} = options
  if (!controllers.includes(SIGNER)) return undefined
  const signers = await Reloadable.open(
    async () => signersOf(await readSigning(namedSigners(signing)), signing),
    (error) => log(`error: ${messageOf(error)}`),
  )
  if (signers.current.size === 0) {
    throw usage(
      'csr-signer has no CA to sign with',
      'use --cluster-signing-cert-file and --cluster-signing-key-file',
    )
  }
  if (issuanceLog === undefined) {
    throw usage('csr-signer has no issuance log', 'name a file for it with --issuance-log')
  }
  const check = `trustadm certificate log --verify ${shellWord(issuanceLog)}`
  const watched = new WatchedLog({path: issuanceLog, check, server: hostname(), clock, log})
  const {issuances} = watched
  try {
    await issuances.check()
  } catch (error) {
    await issuances.close()
    throw error
  }
  return {
    authorities: await readSigning(namedSigners(signing)),
    deps: {signers, issuances, checksSignatures: true, offers: new Map()},
    watched,
    names: [...signers.current.keys()],
    reload: () => signers.reload(),
    close: () => issuances.close(),
  }
}

/** Reports missing rights before anything runs: otherwise a controller would fail again and again. */
async function requireRights(options: RunOptions, signers: readonly string[]): Promise<void> {
  const wanted = [
    ...options.controllers.flatMap((name) => PERMISSIONS[name] ?? []),
    ...signPermissions(signers),
    ...(options.leaderElection ? LEADER_PERMISSIONS : []),
  ]
  const distinct = [...new Map(wanted.map((one) => [formatPermission(one), one])).values()]
  const missing = (await missingPermissions(options.client, distinct)).map(formatPermission)
  if (missing.length === 0) return
  throw new TrustError('FORBIDDEN', `the user of the kubeconfig may not ${missing.join(', ')}`, {
    hints: ['grant these rights with a role and a binding, or run fewer controllers'],
    facts: {missing},
  })
}

/** The list of revoked certificates, if the server is trustadm's own and the caller may read it. */
async function followedRevocations({client, log}: RunOptions) {
  if (!(await isOwnServer(client))) return undefined
  const missing = await missingPermissions(client, REVOCATION_PERMISSIONS)
  if (missing.length === 0) return client.configMaps
  const rights = missing.map(formatPermission).join(', ')
  log(
    `warning: approvers and the signer do not know which certificates are revoked: may not ${rights}`,
  )
  return undefined
}

/** Shows in trustadm's own control plane what is signed with here: a rotation of its CAs leaves that to its owner. */
async function reportedSigners(
  {client, log}: RunOptions,
  authorities: SigningAuthorities | undefined,
): Promise<() => Promise<void>> {
  const nothing = () => Promise.resolve()
  if (!authorities || !(await isOwnServer(client))) return nothing
  const refused = (error: unknown) =>
    log(`warning: "ca rotate status" does not show what is signed with here: ${messageOf(error)}`)
  try {
    const takeBack = await reportSigners(client, hostname(), describeSigners(authorities))
    return () => takeBack().catch(refused)
  } catch (error) {
    refused(error)
    return nothing
  }
}

type Running = Pick<RunningControllers, 'close'>

/** Runs controllers in this process against any cluster, with only the rights of the client. */
export async function runControllers(options: RunOptions): Promise<RunningOutside> {
  const {client, controllers, clock, log} = options
  const signing = await prepareSigning(options)
  try {
    await requireRights(options, signing?.names ?? [])
    if (controllers.some((name) => KEEP_RECORDS.includes(name))) {
      await carryOverRecords(client, {log})
    }
  } catch (error) {
    await signing?.close()
    throw error
  }
  const revocations = await followedRevocations(options)
  const policy = servingPolicy(options.serving)
  const serving = () => policy
  const deps = {
    reader: client,
    writer: () => client,
    clock,
    serving,
    signing: signing?.deps,
    revocations,
    keepsTokens: (await isOwnServer(client)) ? undefined : (true as const),
    log,
  }
  const takeBack = await reportedSigners(options, signing?.authorities)
  const logFailure = onceAMinute(log, clock)
  const identity = `${hostname()}_${randomUUID()}`
  const onError = (name: string, key: string, error: unknown) =>
    logFailure(`error: ${[name, key].filter(Boolean).join(' ')}: ${messageOf(error)}`)
  const running: Running[] = controllers.map((name) => {
    const watched = name === SIGNER ? signing?.watched : undefined
    const start = (leads?: () => boolean) => {
      watched?.takeOver()
      const own = {...deps, signing: deps.signing && {...deps.signing, leads}}
      return startAll(controllersOf(PORTABLE_CONTROLLERS, own, [name]), onError)
    }
    if (!options.leaderElection) return start()
    const lease = `trustadm-controllers-${name}`
    const shared = watched?.heads
    return startAsLeader(start, {client, name, lease, identity, clock, shared, log})
  })
  if (signing) running.push(signing.watched.startWitness(client, onError))
  return {
    reload: async () => signing?.reload(),
    async close() {
      await Promise.all(running.map((controller) => controller.close()))
      await takeBack()
      await signing?.close()
    },
  }
}

/** Waits for SIGTERM or SIGINT, then until everything has ended. Until then SIGHUP rereads the CAs. */
export async function untilSignalled(
  running: RunningOutside,
  log: (line: string) => void,
): Promise<void> {
  const reload = () => {
    running.reload().then(
      () => log('CAs were reread'),
      (error: unknown) =>
        log(`error: CAs were not reread, the old ones stay in use: ${messageOf(error)}`),
    )
  }
  process.on('SIGHUP', reload)
  const name = await new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
  })
  log(`${name}: finishing what is in flight`)
  await running.close()
  process.off('SIGHUP', reload)
  log('stopped')
}
