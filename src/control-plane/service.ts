import {TrustError} from '../errors.ts'
import {readTrust} from '../trust/read-trust.ts'
import {endpointOf, type Plane} from './config/plane.ts'
import {loadPlane} from './config/stored.ts'
import {exclusively, type Tell} from './exclusive.ts'
import {requireFreePort, takenPortHints} from './free-port.ts'
import type {Runner} from './runner.ts'
import {startInBackground, stopServer, stopSupervisor, waitForServer} from './server-process.ts'
import {findServerInTime, findStray, findSupervisor, type ServerState} from './server-state.ts'
import {trustSources} from './signing.ts'
import {unitOf} from './plane-command.ts'

/** What `start`, `stop` and `restart` print. */
export interface ServiceReport {
  dir: string
  endpoint: string
  running: boolean
  /** Whether the command did something: false if all was as wanted already. */
  changed: boolean
  /** Of the server that runs, or of the one that was stopped; null if there was none. */
  pid: number | null
  runner: Runner['kind'] | null
}

export interface ServiceOptions {
  /** The command that starts this program, without arguments. */
  program: readonly string[]
  tell?: Tell | undefined
}

function reportOf(
  plane: Plane,
  state: ServerState | undefined,
  {running, changed}: Pick<ServiceReport, 'running' | 'changed'>,
): ServiceReport {
  return {
    dir: plane.dir,
    endpoint: endpointOf(plane),
    running,
    changed,
    pid: state?.pid ?? null,
    runner: state ? (state.runner?.kind ?? 'background') : null,
  }
}

/** A server that systemd is to run must not be started by anybody else. */
export async function requireNoUnit(plane: Plane, verb: string): Promise<void> {
  const unit = await unitOf(plane)
  if (unit === undefined) return
  throw new TrustError('CONFLICT', `systemd runs this control plane, as ${unit}`, {
    hints: [`run "systemctl ${verb} ${unit}"`],
    facts: {unit},
  })
}

/** Only what `init` or `start` has put into the background is stopped. */
export async function requireBackground(
  plane: Plane,
  {pid, runner}: ServerState,
  verb: string,
): Promise<void> {
  if (runner?.kind === 'systemd') {
    const unit = runner.unit ?? (await unitOf(plane))
    const which = unit === undefined ? '' : `, as ${unit}`
    throw new TrustError('CONFLICT', `systemd runs the server (process ${pid})${which}`, {
      hints: [`run "systemctl ${verb} ${unit ?? '<its unit>'}"`],
      facts: {pid, ...(unit !== undefined && {unit})},
    })
  }
  if (runner?.kind !== 'foreground') return
  throw new TrustError('CONFLICT', `the server (process ${pid}) runs in the foreground`, {
    hints: [
      'end it where it was started: Ctrl-C in its terminal, or with the tool that runs it',
      `or end it with "kill ${pid}"`,
    ],
    facts: {pid},
  })
}

/** What a server needs to start: checked before a running one is stopped. */
async function requireUsable(plane: Plane): Promise<void> {
  await readTrust(await trustSources(plane), 1)
}

async function startStopped(plane: Plane, program: readonly string[]): Promise<ServerState> {
  const stray = await findStray(plane)
  if (stray) throw stray
  await requireFreePort(plane, takenPortHints(plane))
  return await startInBackground(plane, program)
}

/** Stops the server, or what would restart it; undefined if neither runs. */
async function stopRunning(plane: Plane, verb: string): Promise<ServerState | undefined> {
  const running = await findServerInTime(plane)
  if (running) {
    await requireBackground(plane, running, verb)
    await stopServer(plane, running)
    return running
  }
  const supervisor = await findSupervisor(plane)
  if (supervisor) await stopSupervisor(supervisor)
  const stray = await findStray(plane)
  if (stray) throw stray
  return undefined
}

/** Changes one control plane at a time, which must exist before anything is locked. */
async function changing(
  dir: string,
  tell: Tell | undefined,
  change: (plane: Plane) => Promise<ServiceReport>,
): Promise<ServiceReport> {
  await loadPlane(dir)
  return await exclusively(dir, async () => change(await loadPlane(dir)), tell)
}

/** Starts the server of a folder in the background, unless it runs, and waits until it is ready. */
export const startService = (
  dir: string,
  {program, tell}: ServiceOptions,
): Promise<ServiceReport> =>
  changing(dir, tell, async (plane) => {
    if (await findServerInTime(plane)) {
      return reportOf(plane, await waitForServer(plane), {running: true, changed: false})
    }
    await requireNoUnit(plane, 'start')
    await requireUsable(plane)
    const state = await startStopped(plane, program)
    return reportOf(plane, state, {running: true, changed: true})
  })

/** Stops the background server of a folder, if it runs, and waits until it has ended. */
export const stopService = (dir: string, tell?: Tell): Promise<ServiceReport> =>
  changing(dir, tell, async (plane) => {
    const stopped = await stopRunning(plane, 'stop')
    return reportOf(plane, stopped, {running: false, changed: stopped !== undefined})
  })

/** Stops the background server, if it runs, and starts it. */
export const restartService = (
  dir: string,
  {program, tell}: ServiceOptions,
): Promise<ServiceReport> =>
  changing(dir, tell, async (plane) => {
    await requireNoUnit(plane, 'restart')
    await requireUsable(plane)
    await stopRunning(plane, 'restart')
    const state = await startStopped(plane, program)
    return reportOf(plane, state, {running: true, changed: true})
  })
