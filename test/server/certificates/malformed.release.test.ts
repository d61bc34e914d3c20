import assert from 'node:assert/strict'
import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'
import {CSRS, csrObject, useServer} from './support.ts'
import {malformedRequests} from './malformed-requests.ts'

const REQUESTS = 10_000
const MEASURED_AT = 1000
const SIDE_BY_SIDE = 16
const SEED = 20_260_301
const MIB = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is left once nothing that is not used any more is. */
async function memory(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const {heapUsed, external} = process.memoryUsage()
  return heapUsed + external
}

describe('10,000 malformed certificate requests', () => {
  const {server, api} = useServer()

  it('are each refused as the caller’s mistake, and leave nothing behind', async function () {
    this.timeout(300_000)
    const pems = malformedRequests(SEED)
    const codes = new Map<number, number>()
    let sent = 0
    const send = async (until: number) => {
      while (sent < until) {
        sent += 1
        const request = Buffer.from(pems.next().value, 'latin1').toString('base64')
        const {status, body, text} = await api().post(CSRS, csrObject({request}))
        assert.equal(body.kind, 'Status', text.slice(0, 500))
        assert.ok(status >= 400 && status < 500, `${status} for ${request.slice(0, 5000)}`)
        codes.set(status, (codes.get(status) ?? 0) + 1)
      }
    }
    const sendAll = async (until: number) => {
      await Promise.all(Array.from({length: SIDE_BY_SIDE}, () => send(until)))
    }

    await sendAll(MEASURED_AT)
    const early = await memory()
    await sendAll(REQUESTS)
    const late = await memory()

    assert.deepEqual([...codes], [[422, REQUESTS]])
    assert.deepEqual(server().errors, [])
    const grown = (late - early) / MIB
    assert.ok(grown < 16, `${grown.toFixed(1)} MiB more than after the first ${MEASURED_AT}`)
    assert.deepEqual((await api().get(CSRS)).body.items, [])
    assert.equal((await api().post(CSRS, csrObject())).status, 201)
  })
})
