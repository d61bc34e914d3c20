import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {
  followingServers,
  Liveness,
  requireFollowers,
  serversNotFollowing,
} from '../../../src/control-plane/ca-rotation/following.ts'
import {followShared} from '../../../src/control-plane/ca-rotation/follow-shared.ts'
import {requireFollowed} from '../../../src/control-plane/ca-rotation/share.ts'
import {
  ensurePlaneKey,
  findPlaneKeyId,
  planeKeyId,
  readPlaneKey,
} from '../../../src/control-plane/plane-key.ts'
import {readServers} from '../../../src/control-plane/server-identity.ts'
import {laggardsOf} from '../../../src/control-plane/server-problems.ts'
import {PLANE_KEY} from '../../../src/control-plane/server-digests.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const NOW = new Date('2026-03-10T00:00:00Z')
const clock = {now: () => NOW}

interface Shown {
  silent?: number
  generation?: number
  key?: string | undefined
  problem?: string
}

const lease = (name: string, {silent = 5, generation = 0, key, problem = ''}: Shown = {}) => ({
  metadata: {
    name,
    labels: {'kubernetes.io/hostname': `host-${name}`},
    annotations: {
      'trustadm.io/ca-generation': String(generation),
      'trustadm.io/ca-rotation-problem': problem,
      'trustadm.io/digests': JSON.stringify(key === undefined ? {} : {[PLANE_KEY]: key}),
    },
  },
  spec: {renewTime: new Date(NOW.getTime() - silent * 1000).toISOString()},
})
const leasesOf = (...items: object[]) =>
  ({leases: {list: () => Promise.resolve({items})}}) as unknown as Pick<ApiClient, 'leases'>

describe('the servers that follow a rotation', () => {
  it('are waited for until they report its generation', async () => {
    const client = leasesOf(lease('one', {generation: 4}), lease('two', {generation: 3}))
    const behind = await serversNotFollowing(client, clock, 4, new Liveness())
    assert.deepEqual(behind, ['two on host-two'])
    const none = await serversNotFollowing(leasesOf(), clock, 4, new Liveness())
    assert.equal(none.length, 1)
  })

  it('are waited for with the reason that they give', async () => {
    const problem = 'the command of the CA "a-ca" ended with 3'
    const client = leasesOf(lease('one', {generation: 4}), lease('two', {generation: 3, problem}))
    const behind = await serversNotFollowing(client, clock, 4, new Liveness())
    assert.deepEqual(behind, [`two on host-two (${problem})`])
    const [one, two] = await followingServers(client, clock, 4)
    assert.deepEqual([one?.problem, two?.problem], [undefined, problem])
    const lines = laggardsOf(await readServers(client, clock))
    assert.deepEqual(lines, [`host-two does not follow the rotation of the CAs yet: ${problem}`])
  })

  it('count as gone once their Leases were not renewed for 40 s, whatever their clocks say', async () => {
    let now = 0
    const liveness = new Liveness(() => now)
    const look = (silent: number) =>
      serversNotFollowing(
        leasesOf(lease('one', {generation: 1, silent: now / 10_000}), lease('two', {silent})),
        clock,
        1,
        liveness,
      )
    assert.deepEqual(await look(60), ['two on host-two'])
    now = 39_000
    assert.deepEqual(await look(60), ['two on host-two'])
    now = 41_000
    // Its clock is wrong, but it has renewed its Lease.
    assert.deepEqual(await look(59), ['two on host-two'])
    now = 82_000
    assert.deepEqual(await look(59), [])
    assert.deepEqual(await look(301), [])
  })

  it('are shown with how far each is', async () => {
    const [one, two, three] = [{generation: 2}, {generation: 1}, {silent: 90}]
    const client = leasesOf(lease('one', one), lease('two', two), lease('three', three))
    const shown = await followingServers(client, clock, 2)
    assert.deepEqual(
      shown.map(({name, state}) => `${name} ${state}`),
      ['one up to date', 'two behind', 'three silent'],
    )
  })

  describe('need the key of the control plane', () => {
    let fixture: PlaneFixture
    beforeEach(async () => {
      fixture = await planeFixture()
    })
    afterEach(() => fixture.remove())

    it('which is created once, for its owner only', async () => {
      const {plane} = fixture.context
      assert.equal(await readPlaneKey(plane), undefined)
      const key = await ensurePlaneKey(plane)
      assert.equal(key.length, 32)
      assert.deepEqual(await ensurePlaneKey(plane), key)
      await writeFile(join(fixture.dir, 'pki', 'plane.key'), 'most of a secret', {mode: 0o600})
      await assert.rejects(readPlaneKey(plane), {code: 'CONFIG_INVALID', message: /^(?!.*secret)/})
      const lines: string[] = []
      assert.equal(await findPlaneKeyId(plane, (line) => lines.push(line)), undefined)
      assert.match(lines.join(), /^error: .*plane\.key is not a key/)
    })

    it('and say only once in a while that they cannot follow', async () => {
      const lines: string[] = []
      let attempts = 0
      const watch = () => {
        attempts += 1
        throw new Error('it cannot be read')
      }
      const client = {secrets: {watch}} as unknown as ApiClient
      const log = (line: string) => lines.push(line)
      const signal = AbortSignal.timeout(3000)
      const reload = () => Promise.resolve()
      await followShared(fixture.context.plane, client, {clock, log, reload, signal})
      assert.ok(attempts > 1)
      assert.equal(lines.length, 1)
    })

    it('so that those that are alive without it are refused by name', async () => {
      const {plane} = fixture.context
      const others = leasesOf(lease('one'), lease('two', {key: 'another'}))
      await assert.rejects(requireFollowers(others, plane, clock), {
        code: 'CONFLICT',
        message: /^2 of the servers .*one on host-one, two on host-two$/,
      })
      const key = planeKeyId(await ensurePlaneKey(plane))
      await requireFollowers(
        leasesOf(lease('one', {key}), lease('two', {silent: 60})),
        plane,
        clock,
      )
    })
  })

  it('refuse a machine that has not followed yet', async () => {
    const found = {metadata: {}, data: {generation: Buffer.from('5').toString('base64')}}
    const secrets = {find: () => Promise.resolve(found)} as unknown as ApiClient['secrets']
    await requireFollowed({secrets}, {shared: 5})
    for (const journal of [undefined, {}, {shared: 4}])
      await assert.rejects(requireFollowed({secrets}, journal), {code: 'CONFLICT'})
  })
})
