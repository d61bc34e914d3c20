import assert from 'node:assert/strict'

import {createHealth} from '../../../src/server/health/health.ts'
import type {Health, HealthCheck} from '../../../src/server/health/health.ts'

const broken = (name: string): HealthCheck => ({
  name,
  check: () => {
    throw new Error('the disk is full')
  },
})

async function get(health: Health, target: string) {
  const {pathname, searchParams} = new URL(target, 'http://localhost')
  const answer = await health.respond({path: pathname, query: searchParams})
  return answer && {status: answer.status, body: answer.body as string, headers: answer.headers}
}

describe('health', () => {
  const well = createHealth([
    {name: 'storage', check: async () => Promise.resolve()},
    {name: 'rbac/bootstrap-roles', check: () => undefined, endpoints: ['healthz', 'readyz']},
  ])

  it('is ok', async () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/readyz/']) {
      const answer = await get(well, path)
      assert.equal(answer?.status, 200, path)
      assert.equal(answer.body, 'ok', path)
      assert.equal(answer.headers['Content-Type'], 'text/plain; charset=utf-8')
    }
  })

  it('lists its checks where asked to', async () => {
    const answer = await get(well, '/readyz?verbose')
    assert.equal(
      answer?.body,
      '[+]ping ok\n[+]storage ok\n[+]rbac/bootstrap-roles ok\n[+]shutdown ok\nreadyz check passed\n',
    )
    assert.equal(
      (await get(well, '/livez?verbose=true'))?.body,
      '[+]ping ok\n[+]storage ok\nlivez check passed\n',
    )
  })

  it('fails as a whole where one check does, and withholds why', async () => {
    const answer = await get(createHealth([broken('storage')]), '/healthz')
    assert.equal(answer?.status, 500)
    assert.equal(
      answer.body,
      '[+]ping ok\n[-]storage failed: reason withheld\nhealthz check failed\n',
    )
  })

  it('passes over what is excluded, and says so', async () => {
    const answer = await get(
      createHealth([broken('storage')]),
      '/livez?verbose&exclude=storage&exclude=nothing',
    )
    assert.equal(answer?.status, 200)
    assert.equal(
      answer.body,
      '[+]ping ok\n[+]storage excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nlivez check passed\n',
    )
  })

  it('shows an advisory check that fails, and passes', async () => {
    const health = createHealth([{...broken('ca-rotation'), isAdvisory: true}])
    assert.equal((await get(health, '/readyz'))?.body, 'ok')
    const answer = await get(health, '/readyz?verbose')
    assert.equal(answer?.status, 200)
    assert.match(answer.body, /^\[-\]ca-rotation failed: reason withheld$/m)
    assert.equal((await get(health, '/readyz/ca-rotation'))?.status, 500)
  })

  it('answers for one check by its path, with the reason', async () => {
    const health = createHealth([broken('storage'), {name: 'a/b', check: () => undefined}])
    assert.equal((await get(health, '/readyz/a/b'))?.body, 'ok')
    const answer = await get(health, '/readyz/storage')
    assert.equal(answer?.status, 500)
    assert.equal(answer.body, 'internal server error: the disk is full\n')
  })

  it('knows no other path and no other check', async () => {
    for (const path of ['/health', '/healthzz', '/readyz/nothing', '/livez/rbac/bootstrap-roles']) {
      assert.equal(await get(well, path), undefined, path)
    }
  })

  it('counts a check that hangs as failed', async () => {
    const hangs: HealthCheck = {name: 'storage', check: () => new Promise(() => undefined)}
    const answer = await get(createHealth([hangs], {timeout: 5}), '/readyz/storage')
    assert.equal(answer?.body, 'internal server error: timed out\n')
  })

  it('is alive but not ready once it shuts down', async () => {
    const health = createHealth([])
    assert.equal((await get(health, '/readyz'))?.status, 200)
    health.beginShutdown()
    assert.equal((await get(health, '/readyz'))?.status, 500)
    assert.equal((await get(health, '/livez'))?.status, 200)
    assert.equal((await get(health, '/healthz'))?.status, 200)
  })
})
