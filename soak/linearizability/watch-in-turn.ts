import {hasCode} from '../../src/errors.ts'
import {sleep} from '../../src/runtime.ts'
import type {Server} from './server.ts'

const AFTER_ERROR = 100

/** Watches one server after the other until the signal. After a failure it waits before it asks the next one. */
export async function watchInTurn(
  servers: readonly Server[],
  signal: AbortSignal,
  watch: (server: Server) => Promise<void>,
  /** Called if the server no longer has the events from where the watch was. */
  onExpired: (server: Server) => Promise<void> | void,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const server = servers[turn % servers.length]
    if (!server) return
    try {
      await watch(server)
    } catch (error) {
      if (hasCode(error, 'EXPIRED')) await onExpired(server)
      await sleep(AFTER_ERROR, signal).catch(() => undefined)
    }
  }
}
