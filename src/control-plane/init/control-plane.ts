import {TrustError} from '../../errors.ts'
import {readTrust} from '../../trust/read-trust.ts'
import {fileOf, type Plane} from '../config/plane.ts'
import {reloadServer, startInBackground, waitForServer} from '../server-process.ts'
import {findServer, findServerInTime, findStray} from '../server-state.ts'
import {trustSources} from '../signing.ts'
import type {InitContext, InitPhase} from './phase.ts'

/** An earlier phase may have made new certificates. They come first: with one that has expired, the server never looks ready. */
async function keep(plane: Plane, tell: InitContext['tell']): Promise<void> {
  await reloadServer(plane)
  const {pid} = await waitForServer(plane)
  tell(`the server runs already (process ${pid})`)
}

export const controlPlane: InitPhase = {
  name: 'control-plane',
  summary: 'start the API server and wait until it is ready',

  async plan({plane}) {
    return (await findServer(plane)) ? [] : [`start the server; its log is ${fileOf(plane, 'log')}`]
  },

  async run({plane, program, startInForeground, tell}) {
    const running = await findServerInTime(plane)
    if (running) {
      if (startInForeground) {
        throw new TrustError('CONFLICT', `the server runs already, as process ${running.pid}`, {
          hints: ['leave --foreground out, or stop that process first'],
        })
      }
      return keep(plane, tell)
    }
    const stray = await findStray(plane)
    if (stray) throw stray
    // Said here, what is missing is not buried in the log of a server that ends at once.
    await readTrust(trustSources(plane), 1)
    if (startInForeground) {
      await startInForeground(plane)
      tell('the server is ready')
      return
    }
    const {pid} = await startInBackground(plane, program)
    tell(`the server is ready (process ${pid}); its log is ${fileOf(plane, 'log')}`)
  },
}
