import assert from 'node:assert/strict'
import {setImmediate as nextTurn} from 'node:timers/promises'
import type {ApiObject} from '../../../src/api/meta.ts'
import type {ResourceClient} from '../../../src/client/resource-client.ts'
import {follow} from '../../../src/controllers/kernel/controller.ts'
import {startAll} from '../../../src/controllers/index.ts'
import {DONE} from '../../../src/controllers/kernel/work-queue.ts'

/** A server that never answers. */
const silent: Pick<ResourceClient<ApiObject>, 'list' | 'watch'> = {
  list: ({signal} = {}) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error))
    }),
  watch: () => assert.fail('nothing was listed'),
}

describe('a controller', () => {
  it('can be stopped before the server has answered, though nobody waits for it to be in step', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    try {
      const sources = [follow(silent, (_object, key) => [key])]
      const reconcile = () => Promise.resolve(DONE)
      const running = startAll([{name: 'idle', sources, reconcile}], () => assert.fail())
      await running.close()
      await nextTurn()
      assert.deepEqual(rejections, [])
      await assert.rejects(running.synced, /the controller is stopping/)
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})
