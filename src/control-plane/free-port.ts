import {createServer} from 'node:net'
import {TrustError, messageOf, systemCode} from '../errors.ts'
import {fileOf, type Plane} from './config/plane.ts'
import {findStray} from './server-state.ts'

/** What to do about a port of a control plane that is set up already. */
export const takenPortHints = (plane: Pick<Plane, 'dir'>): string[] => [
  'stop the program that listens there, then run the command again',
  `or change bindPort in ${fileOf(plane, 'config')}: machines that have joined use the old one`,
]

/** Refuses a port that the server could not listen on. `hints` say what to do if another program has it. */
export async function requireFreePort(plane: Plane, hints: string[]): Promise<void> {
  const {bindAddress, bindPort} = plane.settings
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({host: bindAddress, port: bindPort}, resolve)
    })
  } catch (error) {
    const where = `${bindAddress}:${bindPort}`
    if (systemCode(error) === 'EADDRINUSE') {
      const stray = await findStray(plane)
      if (stray) throw stray
      throw new TrustError('PORT_IN_USE', `something already listens on ${where}`, {
        cause: error,
        hints,
      })
    }
    throw new TrustError('PREFLIGHT_FAILED', `cannot listen on ${where}: ${messageOf(error)}`, {
      cause: error,
      hints: ['choose an address of this machine with --bind-address'],
    })
  } finally {
    server.close()
  }
}
