import assert from 'node:assert/strict'
import {mock} from 'node:test'
import {Commits, type RecordChange} from '../../src/storage/record-store.ts'

/** A disk that can be broken and repaired. */
class Disk {
  readonly commits: RecordChange[] = []
  failure: Error | undefined
  /** What a commit waits for. */
  busy = Promise.resolve()

  async commit(change: RecordChange): Promise<void> {
    this.commits.push(change)
    await this.busy
    if (this.failure) throw this.failure
  }
}

const PUT = {put: [{revision: 2, key: '/a', created: 2, value: new Uint8Array(1)}], remove: []}

describe('a check of the store', () => {
  const lines: string[] = []
  let disk: Disk
  let commits: Commits
  beforeEach(() => {
    disk = new Disk()
    lines.length = 0
    commits = new Commits(
      disk,
      () => 0,
      (line) => lines.push(line),
    )
  })

  it('fails on a disk that takes no commit, although nobody has written', async () => {
    disk.failure = new Error('no room')
    await assert.rejects(commits.check(), {message: 'no room'})
    assert.deepEqual(disk.commits, [{put: [], remove: [], compacted: 0}])
    assert.deepEqual(lines, ['error: no room; until it can, writes are refused'])
  })

  it('makes one commit for all who ask at the same time, and none soon after another', async () => {
    await Promise.all([commits.check(), commits.check(), commits.check()])
    await commits.check()
    assert.equal(disk.commits.length, 1)
  })

  it('makes no commit if a write has just shown how the disk is', async () => {
    await commits.commit(PUT)
    await commits.check()
    disk.failure = new Error('no room')
    await assert.rejects(commits.commit(PUT))
    await assert.rejects(commits.check(), {message: 'no room'})
    assert.equal(disk.commits.length, 2)
  })

  it('does not end while a commit hangs, and adds no other', async () => {
    let repair: () => void = () => undefined
    disk.busy = new Promise((resolve) => (repair = resolve))
    const states: string[] = []
    const checks = [1, 2].map(() => commits.check().then(() => states.push('ended')))
    await new Promise(setImmediate)
    assert.deepEqual([states, disk.commits.length], [[], 1])
    repair()
    await Promise.all(checks)
  })

  describe('after a failure', () => {
    const FAILED = 'error: no room; until it can, writes are refused'
    let now = 0
    beforeEach(async () => {
      mock.method(performance, 'now', () => now)
      disk.failure = new Error('no room')
      await assert.rejects(commits.check())
      disk.failure = undefined
    })
    afterEach(() => mock.restoreAll())

    it('asks the disk again after a while', async () => {
      now += 999
      await assert.rejects(commits.check())
      now += 1
      await commits.check()
      assert.deepEqual(lines, [FAILED, 'the store accepts writes again'])
      assert.equal(disk.commits.length, 2)
    })

    it('does not take it for repaired because a commit found room that was smaller', async () => {
      now += 500
      await commits.commit(PUT)
      await assert.rejects(commits.check(), {message: 'no room'})
      assert.deepEqual(lines, [FAILED])
    })

    it('comes by itself once commits succeed again', async () => {
      now += 1000
      await commits.commit(PUT)
      await commits.end()
      await commits.check()
      assert.deepEqual(lines, [FAILED, 'the store accepts writes again'])
      assert.deepEqual(disk.commits.at(-1)?.put, [])
    })

    it('is over before the end, so that no commit meets a closed file', async () => {
      now += 1000
      void commits.commit(PUT)
      await commits.end()
      const {length} = disk.commits
      await new Promise(setImmediate)
      assert.deepEqual([length, disk.commits.length], [3, 3])
    })
  })
})
