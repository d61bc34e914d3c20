import {hasCode, TrustError} from '../errors.ts'
import type {Plane} from './config/plane.ts'
import {takenPortHints} from './free-port.ts'
import {planeCommand} from './plane-command.ts'
import {findServer} from './server-state.ts'

/** Why a server of a control plane does not start, with what to do: the layers below know neither its folder nor its flags. */
export async function asStartFailure(plane: Plane, error: unknown): Promise<unknown> {
  if (hasCode(error, 'PORT_IN_USE')) {
    const {message, facts} = error
    return new TrustError('PORT_IN_USE', message, {
      cause: error,
      facts,
      hints: takenPortHints(plane),
    })
  }
  const running = hasCode(error, 'STORE_LOCKED') ? await findServer(plane) : undefined
  if (!running) return error
  return new TrustError(
    'STORE_LOCKED',
    `the server is running already, as process ${running.pid}`,
    {
      cause: error,
      facts: {pid: running.pid},
      hints: [`stop it first with "${planeCommand(plane.dir, 'stop')}"`],
    },
  )
}
