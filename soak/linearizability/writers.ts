import type {ConfigMap} from '../../src/api/core.ts'
import {hasCode} from '../../src/errors.ts'
import {sleep} from '../../src/runtime.ts'
import type {History, State, Write} from './history.ts'
import type {Server} from './server.ts'

export const NAMESPACE = 'linearizable'
export const KEYS = Array.from({length: 12}, (_, index) => `key-${index}`)

const PAUSE = 15
/** After an error, so that a server that is down is not asked all the time. */
const AFTER_ERROR = 100

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T

export const stateOf = ({metadata, data}: ConfigMap): Required<State> => ({
  revision: Number(metadata.resourceVersion),
  value: data?.value ?? '',
})

/** Reads and writes through one server, and notes all of it; another server may have what it expects. */
export async function write(
  server: Server,
  name: string,
  history: History,
  signal: AbortSignal,
): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    try {
      const chance = Math.random()
      if (chance < 0.1) await list(server, history)
      else if (chance < 0.5) await read(server, pick(KEYS), history)
      else await change(server, pick(KEYS), `${name}-${count}`, history)
      await sleep(PAUSE * Math.random(), signal)
    } catch {
      await sleep(AFTER_ERROR, signal).catch(() => undefined)
    }
  }
}

async function list({admin}: Server, history: History): Promise<void> {
  const start = performance.now()
  const {items, metadata} = await admin.configMaps.list({namespace: NAMESPACE})
  const states = items.map((item) => [item.metadata.name ?? '', stateOf(item)] as const)
  const revision = Number(metadata.resourceVersion)
  history.list({start, end: performance.now(), revision, states: new Map(states)}, KEYS)
}

export async function read(
  {admin}: Pick<Server, 'admin'>,
  key: string,
  history: History,
): Promise<ConfigMap | undefined> {
  const start = performance.now()
  const found = await admin.configMaps.find({namespace: NAMESPACE, name: key})
  const end = performance.now()
  history.operations.push({kind: 'read', key, start, end, state: found && stateOf(found)})
  return found
}

/** Reads, and writes on what was read: now and then it deletes. */
async function change(server: Server, key: string, value: string, history: History): Promise<void> {
  const found = await read(server, key, history)
  const base = Number(found?.metadata.resourceVersion ?? 0)
  const {configMaps} = server.admin
  if (!found) {
    const metadata = {namespace: NAMESPACE, name: key}
    await noted(history, {key, base, value}, () => configMaps.create({metadata, data: {value}}))
  } else if (Math.random() < 0.1) {
    const {resourceVersion} = found.metadata
    await noted(history, {key, base, value: undefined}, () =>
      configMaps.delete({namespace: NAMESPACE, name: key}, {resourceVersion}),
    )
  } else {
    await noted(history, {key, base, value}, () => configMaps.update({...found, data: {value}}))
  }
}

/** What the server says of a write: done, refused, or nothing that could be relied on. */
async function noted(
  history: History,
  wanted: Pick<Write, 'key' | 'base' | 'value'>,
  send: () => Promise<unknown>,
): Promise<void> {
  const operation: Write = {
    ...wanted,
    kind: 'write',
    start: performance.now(),
    end: Infinity,
    outcome: 'unknown',
  }
  history.operations.push(operation)
  try {
    const written = await send()
    operation.outcome = 'acknowledged'
    operation.end = performance.now()
    if (written) operation.revision = stateOf(written as ConfigMap).revision
  } catch (error) {
    if (!hasCode(error, 'CONFLICT', 'ALREADY_EXISTS', 'NOT_FOUND')) throw error
    operation.outcome = 'refused'
    operation.end = performance.now()
  }
}
