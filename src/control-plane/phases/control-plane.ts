import {TrustError} from '../../errors.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {readMaterial} from '../material.ts'
import {reloadServer, startInBackground, waitForServer} from '../server-process.ts'
import {findServer} from '../server-state.ts'
import type {Phase, PhaseContext} from './phase.ts'

/** A server that runs may have been given new certificates by an earlier phase. */
async function keep(plane: Plane, pid: number, tell: PhaseContext['tell']): Promise<void> {
  await reloadServer(plane)
  tell(`the server runs already (process ${pid})`)
}

export const controlPlane: Phase = {
  name: 'control-plane',
  summary: 'start the API server and wait until it is ready',

  async plan({plane}) {
    return (await findServer(plane)) ? [] : [`start the server; its log is ${fileOf(plane, 'log')}`]
  },

  async run({plane, program, startInForeground, tell}) {
    const running = await findServer(plane)
    if (running) {
      if (startInForeground) {
        throw new TrustError('CONFLICT', `the server runs already, as process ${running.pid}`, {
          hints: ['leave --foreground out, or stop that process first'],
        })
      }
      const {pid} = await waitForServer(plane)
      return keep(plane, pid, tell)
    }
    // Said here, what is missing is not buried in the log of a server that ends at once.
    await readMaterial(plane)
    if (startInForeground) {
      await startInForeground(plane)
      tell('the server is ready')
      return
    }
    const {pid} = await startInBackground(plane, program)
    tell(`the server is ready (process ${pid}); its log is ${fileOf(plane, 'log')}`)
  },
}
