import type {HandlerOperations} from './processes/handler.ts'
import {Worker} from './processes/worker.ts'
import {compared, type BenchRow} from './rows.ts'

/** What the server's function costs without sockets and disk, beside reading and writing the object's JSON once. */
export async function benchHandler(): Promise<BenchRow[]> {
  const worker = await Worker.start<HandlerOperations>('handler')
  try {
    const {json, ...verbs} = await worker.call('measure', undefined)
    return Object.entries(verbs).map(([verb, cost]) =>
      compared(NAMES[verb] ?? verb, cost, 'µs each', [json, "the object's JSON, read and written"]),
    )
  } finally {
    await worker.stop()
  }
}

const NAMES: Record<string, string> = {
  certified: 'get with a client certificate',
  list: 'list of 500 objects',
}
