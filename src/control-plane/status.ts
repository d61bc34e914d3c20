import type {ApiClient} from '../client/api-client.ts'
import {TrustError, messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {connectAsAdmin} from './admin.ts'
import {endpointOf, type Plane} from './config/plane.ts'
import {checkExpiration, type ExpirationReport} from './expiration.ts'
import {differing} from './server-digests.ts'
import {readServers, type KnownServer} from './server-identity.ts'
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
  /** Why it is not ready, or why its contents cannot be read. */
  problems: string[]
}

export interface StatusReport {
  dir: string
  endpoint: string
  server: ServerReport
  /** All servers of the control plane, the one of this machine included. */
  servers: KnownServer[]
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

type Contents = Pick<StatusReport, 'servers' | 'objects'>

const NO_CONTENTS: Contents = {servers: [], objects: []}

async function readContents(plane: Plane, clock: Clock): Promise<Contents & {version: string}> {
  const client = await connectAsAdmin(plane)
  try {
    const {gitVersion} = await client.version()
    return {
      version: gitVersion,
      servers: await readServers(client, clock),
      objects: parseCounts(await client.raw('/metrics')),
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

/** Servers of one control plane that differ, as during an upgrade, or because the settings of one were changed. */
export function differencesOf(servers: readonly KnownServer[]): string[] {
  const alive = servers.filter((server) => server.alive)
  const names = differing(alive.map(({digests}) => digests))
  const settings = names.map((name) => `the servers have different ${name}`)
  if (new Set(alive.map(({version}) => version)).size < 2) return settings
  const each = alive.map(({hostname, name, version}) => `${version ?? '?'} on ${hostname ?? name}`)
  return [`the servers run different versions: ${each.join(', ')}`, ...settings]
}

/** Issuance logs that lack lines which nodes have seen. */
export const lossesOf = (servers: readonly KnownServer[]): string[] =>
  servers.flatMap(({name, hostname, issuanceLog: {problem}}) =>
    problem === undefined ? [] : [`${hostname ?? name}: ${problem}`],
  )

/** Servers that do not follow a rotation of another machine. */
export const laggardsOf = (servers: readonly KnownServer[]): string[] =>
  servers.flatMap(({name, hostname, rotationProblem, alive}) =>
    rotationProblem === null || !alive
      ? []
      : [`${hostname ?? name} does not follow the rotation of the CAs yet: ${rotationProblem}`],
  )

async function reportServer(
  plane: Plane,
  clock: Clock,
): Promise<Contents & {server: ServerReport}> {
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
    const {servers} = contents
    const problems = [...lossesOf(servers), ...laggardsOf(servers), ...differencesOf(servers)]
    return {server: {...server, version, problems}, ...contents}
  } catch (error) {
    server.problems.push(messageOf(error))
    return {server, ...NO_CONTENTS}
  }
}

/** What runs, what expires and what is stored. */
export async function readStatus(plane: Plane, clock: Clock): Promise<StatusReport> {
  return {
    dir: plane.dir,
    endpoint: endpointOf(plane),
    ...(await reportServer(plane, clock)),
    certificates: await checkExpiration(plane, clock),
  }
}
