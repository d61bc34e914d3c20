import {TrustError} from '../../errors.ts'
import {readTrust} from '../../trust/read-trust.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {reloadServer, startInBackground, stopServer, waitForServer} from '../server-process.ts'
import {findServer, findServerInTime, findStray, type ServerState} from '../server-state.ts'
import {serverUnit} from '../server-unit.ts'
import {requireBackground, requireNoUnit} from '../service.ts'
import {startWithSystemd} from '../systemd.ts'
import {trustSources} from '../signing.ts'
import type {InitContext, InitPhase} from './phase.ts'

/** An earlier phase may have created new certificates. The server must reread them first: with an expired one it never looks ready. */
async function keep(plane: Plane, tell: InitContext['tell']): Promise<void> {
  await reloadServer(plane)
  const {pid} = await waitForServer(plane)
  tell(`the server is already running (process ${pid})`)
}

/** A server in the background is stopped first, and started again by systemd. */
async function giveToSystemd(
  plane: Plane,
  running: ServerState | undefined,
  {program, unitDir, tell}: Pick<InitContext, 'program' | 'tell'> & {unitDir: string},
): Promise<void> {
  await readTrust(await trustSources(plane), 1)
  if (running && running.runner?.kind !== 'systemd') {
    await requireBackground(plane, running, 'stop')
    await stopServer(plane, running)
  }
  const {pid} = await startWithSystemd(plane, program, unitDir)
  tell(`the server is ready (process ${pid}); systemd starts it at every boot`)
}

export const controlPlane: InitPhase = {
  name: 'control-plane',
  summary: 'start the API server and wait until it is ready',

  async plan({plane, program, systemd}) {
    if (systemd) {
      const {path} = serverUnit(plane, program, systemd.unitDir)
      return [`install ${path}, and start the server with systemd`]
    }
    return (await findServer(plane)) ? [] : [`start the server; its log is ${fileOf(plane, 'log')}`]
  },

  async run({plane, program, startInForeground, systemd, tell}) {
    const running = await findServerInTime(plane)
    if (systemd) {
      await giveToSystemd(plane, running, {program, ...systemd, tell})
      return
    }
    if (running) {
      if (startInForeground) {
        throw new TrustError(
          'CONFLICT',
          `the server is already running, as process ${running.pid}`,
          {
            hints: ['leave out --foreground, or stop that process first'],
          },
        )
      }
      return keep(plane, tell)
    }
    await requireNoUnit(plane, 'start')
    const stray = await findStray(plane)
    if (stray) throw stray
    // Checked here, so that the error is shown and not only in the log of a server that ends at once.
    await readTrust(await trustSources(plane), 1)
    if (startInForeground) {
      await startInForeground(plane)
      tell('the server is ready')
      return
    }
    const {pid} = await startInBackground(plane, program)
    tell(`the server is ready (process ${pid}); its log is ${fileOf(plane, 'log')}`)
  },
}
