import {messageOf} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {connectAsAdmin} from './admin.ts'
import {endpointOf, type Plane} from './config/plane.ts'
import {checkExpiration, type ExpirationReport} from './expiration.ts'
import {probe} from './server-process.ts'
import {findServer} from './server-state.ts'
import {findStray} from './stray-process.ts'

export interface ServerReport {
  running: boolean
  ready: boolean
  pid: number | null
  startedAt: string | null
  version: string | null
  checks: {name: string; ok: boolean}[]
  /** Why it is not ready, or why its contents cannot be read. */
  problems: string[]
}

export interface StatusReport {
  dir: string
  endpoint: string
  server: ServerReport
  certificates: ExpirationReport
  /** How many objects of each resource are stored; only those that there are some of. */
  objects: {resource: string; count: number}[]
}

const CHECK = /^\[([+-])\]([^ ]+)/gm
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
  problems: [],
}

async function readContents(
  plane: Plane,
): Promise<{version: string; objects: StatusReport['objects']}> {
  const client = await connectAsAdmin(plane)
  try {
    const {gitVersion} = await client.version()
    return {version: gitVersion, objects: parseCounts(await client.raw('/metrics'))}
  } finally {
    await client.close()
  }
}

async function reportServer(plane: Plane): Promise<Pick<StatusReport, 'server' | 'objects'>> {
  const state = await findServer(plane)
  if (!state) {
    const stray = await findStray(plane)
    return {server: {...STOPPED, problems: stray ? [stray.message] : []}, objects: []}
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
    server.ready = true
    const {version, objects} = await readContents(plane)
    return {server: {...server, version}, objects}
  } catch (error) {
    server.problems.push(messageOf(error))
    return {server, objects: []}
  }
}

/** What runs, what expires and what is stored. */
export async function readStatus(plane: Plane, clock: Clock): Promise<StatusReport> {
  return {
    dir: plane.dir,
    endpoint: endpointOf(plane),
    ...(await reportServer(plane)),
    certificates: await checkExpiration(plane, clock),
  }
}
