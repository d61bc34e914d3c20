import type {ApiClient} from '../../src/client/api-client.ts'
import {sleep} from '../../src/runtime.ts'
import type {Waits} from './waits.ts'

const PAUSE = 250

/** Keeps one watch open and times how long after a write its event arrives. A watch that ends was refused. */
export async function watchOver(
  admin: ApiClient,
  namespace: string,
  waits: Waits,
  signal: AbortSignal,
): Promise<void> {
  const {configMaps} = admin
  const sent = new Map<string, number>()
  const {metadata} = await configMaps.create({metadata: {name: 'bell', namespace}, data: {}})
  const listen = async () => {
    let {resourceVersion} = metadata
    while (!signal.aborted) {
      try {
        for await (const {object} of configMaps.watch({namespace, resourceVersion, signal})) {
          ;({resourceVersion} = object.metadata)
          const start = sent.get(object.data?.ring ?? '')
          if (object.metadata.name === 'bell' && start !== undefined)
            waits.note('watch event', performance.now() - start)
        }
        if (!signal.aborted) waits.refuse('watch event', 'the watch ended')
      } catch (error) {
        if (signal.aborted) return
        waits.refuse('watch event', error)
        await sleep(PAUSE, signal)
      }
    }
  }
  const ring = async () => {
    for (let number = 0; !signal.aborted; number++) {
      sent.clear()
      sent.set(String(number), performance.now())
      const bell = {metadata: {name: 'bell', namespace}, data: {ring: String(number)}}
      await waits.time('ring', signal, () => configMaps.update(bell, {signal}))
      await sleep(PAUSE, signal)
    }
  }
  await Promise.all([listen(), ring()])
}
