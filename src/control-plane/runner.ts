import {readFile} from 'node:fs/promises'
import {basename} from 'node:path'
import {isSupervisor} from './background-program.ts'
import {isOwnLog} from './own-log.ts'
import type {Plane} from './config/plane.ts'
import {processIdentity} from './process-identity.ts'

/** A process that is known by more than its number, which the system gives to another one later. */
export interface KnownProcess {
  pid: number
  /** When it started, in which boot. Empty if the system does not tell. */
  identity: string
}

/** What a server runs under: it decides how the server is stopped. */
export interface Runner {
  kind: 'background' | 'foreground' | 'systemd'
  /** The unit of systemd, if it is known. */
  unit?: string
  /** The process that restarts a background server after a crash. */
  supervisor?: KnownProcess
}

/** Only Linux has these files. */
const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

/** systemd names the process that it started; a version before 248 does not, but is its parent. */
function isUnderSystemd(environment: Record<string, string | undefined>): boolean {
  const {SYSTEMD_EXEC_PID, INVOCATION_ID} = environment
  if (SYSTEMD_EXEC_PID !== undefined) return SYSTEMD_EXEC_PID === String(process.pid)
  return INVOCATION_ID !== undefined && process.ppid === 1
}

/** The unit in the list of control groups of a process, as in `0::/system.slice/trustadm.service`. */
export function unitIn(groups: string): string | undefined {
  const paths = groups.split('\n').map((line) => line.slice(line.lastIndexOf(':') + 1))
  return paths.map((path) => basename(path)).find((name) => name.endsWith('.service'))
}

async function findSupervisor(): Promise<KnownProcess | undefined> {
  const pid = process.ppid
  if (!isSupervisor(await read(`/proc/${pid}/cmdline`))) return undefined
  const identity = await processIdentity(pid)
  return identity === undefined ? undefined : {pid, identity}
}

/** What this process, a server, runs under. */
export async function ownRunner(
  plane: Pick<Plane, 'dir'>,
  environment: Record<string, string | undefined> = process.env,
): Promise<Runner> {
  if (isUnderSystemd(environment)) {
    const unit = unitIn(await read('/proc/self/cgroup'))
    return {kind: 'systemd', ...(unit !== undefined && {unit})}
  }
  // `init` and `start` give a server its log as standard error.
  if (!isOwnLog(plane)) return {kind: 'foreground'}
  const supervisor = await findSupervisor()
  return {kind: 'background', ...(supervisor && {supervisor})}
}
