import assert from 'node:assert/strict'
import {once} from 'node:events'
import type {ConfigMap} from '../../../src/api/core.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {rotationDuties} from '../../../src/control-plane/ca-rotation/duties.ts'
import {OPERATION} from '../../../src/control-plane/ca-rotation/status-map.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {exclusively} from '../../../src/control-plane/exclusive.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture} from '../plane-fixture.ts'

/** A cluster where somebody has asked for a rotation. */
function askedToStart(): ApiClient {
  const object: ConfigMap = {metadata: {annotations: {[OPERATION]: 'start-ca-rotation'}}}
  async function* watch({signal}: {signal: AbortSignal}) {
    yield {type: 'ADDED', object}
    if (!signal.aborted) await once(signal, 'abort')
  }
  return {configMaps: {watch}} as unknown as ApiClient
}

describe('a rotation that an annotation asks for', () => {
  it('does not keep a server from ending whose lock another command has', async () => {
    const {context, remove} = await planeFixture()
    const {plane} = context
    await savePlane(plane)
    const lines: string[] = []
    let sawWait: () => void = () => undefined
    const waits = new Promise<void>((resolve) => (sawWait = resolve))
    const log = (line: string) => {
      lines.push(line)
      if (line.startsWith('waiting for process')) sawWait()
    }
    const stopped = new AbortController()
    const beside = {signal: stopped.signal, reload: () => Promise.resolve()}
    try {
      await exclusively(plane.dir, async () => {
        const duties = rotationDuties(plane, {clock: systemClock, log})
        const done = duties.alongside?.(askedToStart(), beside)
        await waits
        stopped.abort(new Error('the server is stopping'))
        await done
      })
      assert.equal(lines.at(-1), 'start-ca-rotation: interrupted')
    } finally {
      await remove()
    }
  })
})
