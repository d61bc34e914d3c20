import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {requireOneServer} from '../../../src/control-plane/ca-rotation/one-server.ts'

const NOW = new Date('2026-03-10T00:00:00Z')
const clock = {now: () => NOW}

describe('a rotation of several servers on one etcd', () => {
  const lease = (name: string, renewTime: string) => ({
    metadata: {name, labels: {'kubernetes.io/hostname': `host-${name}`}},
    spec: {renewTime},
  })
  const require = (...items: object[]) =>
    requireOneServer(
      {leases: {list: () => Promise.resolve({items})}} as unknown as Pick<ApiClient, 'leases'>,
      clock,
    )

  it('is refused, and names them', async () => {
    const [one, two] = ['one', 'two'].map((name) => lease(name, '2026-03-09T23:59:55.000000Z'))
    assert.ok(one && two)
    await assert.rejects(require(one, two), {
      code: 'CONFLICT',
      message: /^2 servers share .*one on host-one, two on host-two$/,
    })
  })

  it('begins with one server, also if another one has died', async () => {
    const [alive, dead] = [
      lease('one', '2026-03-09T23:59:55.000000Z'),
      lease('two', '2026-03-09T23:50:00.000000Z'),
    ]
    await require(alive)
    await require(alive, dead)
  })
})
