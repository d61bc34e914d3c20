import type {ApiClient} from '../client/api-client.ts'
import {hasCode, TrustError, messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {connectAsAdmin, connectElsewhere} from './admin.ts'
import {readOldTrust} from './old-trust.ts'
import {etcdOf, unencryptedWarning} from './config/etcd.ts'
import {endpointOf, type Plane} from './config/plane.ts'
import {checkExpiration, type ExpirationReport} from './expiration.ts'
import {readServers, type KnownServer} from './server-identity.ts'
import {differencesOf, problemsOf, type Difference} from './server-problems.ts'
import {probe} from './server-process.ts'
import {findServer, findStray} from './server-state.ts'
import {startCommand} from './plane-command.ts'

export interface ServerReport {
  running: boolean
  ready: boolean
  pid: number | null
  startedAt: string | null
  version: string | null
  checks: {name: string; ok: boolean}[]
  /** The command that starts it; null while it runs. */
  startCommand: string | null
  /** Why it is not ready, why something cannot be read, and what is wrong with other servers. */
  problems: string[]
}

export interface StatusReport {
  dir: string
  endpoint: string
  server: ServerReport
  /** All servers of the control plane, the one of this machine included. */
  servers: KnownServer[]
  /** In what those of them differ that run. */
  differences: Difference[]
  certificates: ExpirationReport
  /** How many objects of each resource are stored, without empty resources. */
  objects: {resource: string; count: number}[]
}

const CHECK = /^\[([+-])\]([^ ]+)/gm
/** Health checks answer in plain text, in Kubernetes' format. The reason is shown; nothing is decided by it. */
const REASON = /internal server error: (.+)/
const COUNT = /^apiserver_storage_objects\{resource="([^"]+)"\} (\d+)$/gm

export function parseChecks(text: string): ServerReport['checks'] {
  return Array.from(text.matchAll(CHECK), ([, sign, name = '']) => ({name, ok: sign === '+'}))
}

export function parseCounts(metrics: string): StatusReport['objects'] {
  return Array.from(metrics.matchAll(COUNT), ([, resource = '', count]) => ({
    resource,
    count: Number(count),
  }))
    .filter(({count}) => count > 0)
    .sort((one, other) => one.resource.localeCompare(other.resource))
}

const STOPPED: ServerReport = {
  running: false,
  ready: false,
  pid: null,
  startedAt: null,
  version: null,
  checks: [],
  startCommand: null,
  problems: [],
}

type Contents = Pick<StatusReport, 'servers' | 'objects'> & {stillTrustedBy: string[]}

const NO_CONTENTS: Contents = {servers: [], objects: [], stillTrustedBy: []}

async function readContents(plane: Plane, clock: Clock): Promise<Contents & {version: string}> {
  const client = await connectAsAdmin(plane)
  try {
    const {gitVersion} = await client.version()
    return {
      version: gitVersion,
      servers: await readServers(client, clock),
      objects: parseCounts(await client.raw('/metrics')),
      stillTrustedBy: await readOldTrust(plane, async () => (await client.nodes.list()).items),
    }
  } finally {
    await client.close()
  }
}

/** What a health check returned, in Kubernetes' format. */
function bodyOf(error: unknown): string {
  const text = error instanceof TrustError ? error.facts.text : undefined
  return typeof text === 'string' ? text : ''
}

/** Only an administrator may read why a check fails. */
async function whyNotReady(
  plane: Plane,
  error: unknown,
): Promise<Pick<ServerReport, 'checks' | 'problems'>> {
  const checks = parseChecks(bodyOf(error))
  const failing = checks.filter(({ok}) => !ok)
  if (failing.length === 0) return {checks, problems: [messageOf(error)]}
  const client = await connectAsAdmin(plane)
  try {
    return {checks, problems: await Promise.all(failing.map(({name}) => reasonOf(client, name)))}
  } finally {
    await client.close()
  }
}

async function reasonOf(client: Pick<ApiClient, 'raw'>, check: string): Promise<string> {
  try {
    await client.raw(`/readyz/${check}`)
    return `${check}: failed, but works now`
  } catch (error) {
    const [, reason] = REASON.exec(bodyOf(error)) ?? []
    return `${check}: ${reason ?? messageOf(error)}`
  }
}

/** The servers on the same etcd, from one of them: it matters most which run if that of this machine does not. */
async function readOthers(
  plane: Plane,
  {running}: ServerReport,
  clock: Clock,
): Promise<Pick<StatusReport, 'servers'> & {problems: string[]}> {
  const elsewhere = await connectElsewhere(plane, {isRunning: running})
  if (!elsewhere) return {servers: [], problems: []}
  const {client, address} = elsewhere
  try {
    const servers = await readServers(client, clock)
    return {servers, problems: problemsOf(servers)}
  } catch (error) {
    // That may be the only server, by its name: nothing else is wrong then.
    if (!hasCode(error, 'SERVER_UNREACHABLE')) throw error
    return {servers: [], problems: [`no server responds at ${address}`]}
  } finally {
    await client.close()
  }
}

async function reportOwn(plane: Plane, clock: Clock): Promise<Contents & {server: ServerReport}> {
  const state = await findServer(plane)
  if (!state) {
    const stray = await findStray(plane)
    const start = stray ? null : await startCommand(plane)
    const problems = stray ? [stray.message] : []
    return {server: {...STOPPED, startCommand: start, problems}, ...NO_CONTENTS}
  }
  const server: ServerReport = {
    ...STOPPED,
    running: true,
    pid: state.pid,
    startedAt: state.startedAt,
    problems: [],
  }
  try {
    server.checks = parseChecks(await probe(plane, '/readyz?verbose', state.port))
  } catch (error) {
    return {server: {...server, ...(await whyNotReady(plane, error))}, ...NO_CONTENTS}
  }
  server.ready = true
  try {
    const {version, ...contents} = await readContents(plane, clock)
    return {server: {...server, version, problems: problemsOf(contents.servers)}, ...contents}
  } catch (error) {
    server.problems.push(messageOf(error))
    return {server, ...NO_CONTENTS}
  }
}

async function reportServer(plane: Plane, clock: Clock): ReturnType<typeof reportOwn> {
  const own = await reportOwn(plane, clock)
  const {server} = own
  if (server.ready || !etcdOf(plane.settings)) return own
  try {
    const {servers, problems} = await readOthers(plane, server, clock)
    return {...own, server: {...server, problems: [...server.problems, ...problems]}, servers}
  } catch (error) {
    const problems = [...server.problems, `cannot list the other servers: ${messageOf(error)}`]
    return {...own, server: {...server, problems}}
  }
}

/** What runs, what expires and what is stored. */
export async function readStatus(plane: Plane, clock: Clock): Promise<StatusReport> {
  const {stillTrustedBy, ...reported} = await reportServer(plane, clock)
  const {server} = reported
  const certificates = await checkExpiration(plane, clock)
  if (certificates.rotation && stillTrustedBy.length > 0)
    certificates.rotation.stillTrustedBy = stillTrustedBy
  const problems = [...server.problems, ...unencryptedWarning(plane.settings)]
  return {
    dir: plane.dir,
    endpoint: endpointOf(plane),
    ...reported,
    server: {...server, problems},
    differences: differencesOf(reported.servers),
    certificates,
  }
}
