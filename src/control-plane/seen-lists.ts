import type {ApiClient} from '../client/api-client.ts'
import {every, type Clock} from '../runtime.ts'
import {OWN_NAMESPACE} from '../trust/own-namespace.ts'
import {readEntries, writeEntry} from './named-signers.ts'

/**
 * Where the servers on one store record that each keeps a list of the clients that it has seen. A list is on its server's own disk, so nobody
 * can read that of a server which is off: a rotation has to know that there is one.
 */
const LISTS = {namespace: OWN_NAMESPACE, name: 'trustadm-seen-clients'}

/** How often a server says that it still adds to its list, and how soon it tries again. In milliseconds. */
const RECORDED_EVERY = 600_000
const LOOK_EVERY = 60_000

/** A list of clients seen. */
export interface SeenListEntry {
  /** Of the server's Lease. */
  name: string
  /** The machine. */
  host: string
  /** When the server was last known to add to it. */
  time: string
}

interface RecordOptions {
  /** Of the server's Lease. */
  name: string
  host: string
  clock: Clock
  onError: (error: unknown) => void
}

/** Records the list of this server from now on. Returns a function that notes when it ended. */
export function recordSeenList(
  client: Pick<ApiClient, 'configMaps'>,
  {name, host, clock, onError}: RecordOptions,
): () => Promise<void> {
  let writing = Promise.resolve()
  let written = -Infinity
  const record = async () => {
    const now = clock.now()
    await writeEntry(client, LISTS, name, {host, time: now.toISOString()})
    written = now.getTime()
  }
  const write = () => {
    writing = writing.then(record).catch(onError)
    return writing
  }
  void write()
  const stop = every(LOOK_EVERY, () => {
    if (Math.abs(clock.now().getTime() - written) >= RECORDED_EVERY) void write()
  })
  return async () => {
    stop()
    await write()
  }
}

/** The lists of all servers that there have ever been. */
export async function readSeenLists(
  client: Pick<ApiClient, 'configMaps'>,
): Promise<SeenListEntry[]> {
  const entries = await readEntries(client, LISTS)
  return entries.map(([name, value]) => {
    const {host, time} = (value ?? {}) as Partial<Record<string, unknown>>
    return {
      name,
      host: typeof host === 'string' ? host : 'an unknown host',
      time: typeof time === 'string' && !Number.isNaN(Date.parse(time)) ? time : '',
    }
  })
}
