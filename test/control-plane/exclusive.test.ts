import assert from 'node:assert/strict'
import {mkdir, mkdtemp, readdir, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {exclusively} from '../../src/control-plane/exclusive.ts'

describe('exclusively', () => {
  let dir = ''
  beforeEach(async () => {
    dir = join(await mkdtemp(join(tmpdir(), 'trustadm-turn-')), 'plane')
  })
  afterEach(() => rm(join(dir, '..'), {recursive: true}))

  it('runs one piece of work after the other', async () => {
    const steps: string[] = []
    let waiting = 0
    const work = (name: string) => async () => {
      steps.push(`${name} begins`)
      // The first one works on until both others have seen that they have to wait.
      while (waiting < 2) await sleep(5)
      steps.push(`${name} ends`)
    }
    await Promise.all(
      ['a', 'b', 'c'].map((name) => exclusively(dir, work(name), () => (waiting += 1))),
    )
    for (let index = 0; index < steps.length; index += 2) {
      assert.equal(steps[index + 1], steps[index]?.replace('begins', 'ends'))
    }
    assert.equal(steps.length, 6)
  })

  it('removes what commands that were killed have left, and nothing that a server writes', async () => {
    await mkdir(dir, {mode: 0o700})
    const left = '.admin.conf.1-0123456789abcdef.tmp'
    const live = '.server.json.1-0123456789abcdef.tmp'
    for (const name of [left, live]) await writeFile(join(dir, name), '')
    await exclusively(dir, async () => {
      assert.deepEqual((await readdir(dir)).sort(), [live, 'lock'])
    })
  })

  it('says whom it waits for, once', async () => {
    const lines: string[] = []
    let finish: () => void = () => undefined
    const first = exclusively(dir, () => new Promise<void>((resolve) => (finish = resolve)))
    while (
      !(await readdir(join(dir, 'lock')).catch(() => [])).some((name) => /^lock\.\d+$/.test(name))
    )
      await sleep(5)
    const second = exclusively(
      dir,
      () => Promise.resolve('mine'),
      (line) => lines.push(line),
    )
    while (lines.length === 0) await sleep(5)
    finish()
    await first
    assert.equal(await second, 'mine')
    assert.equal(lines.length, 1)
    assert.match(lines.join(), new RegExp(`waiting for process ${process.pid}`))
  })

  it('lets the next one in where the work failed', async () => {
    await assert.rejects(
      exclusively(dir, () => Promise.reject(new Error('odd'))),
      /odd/,
    )
    assert.equal(await exclusively(dir, () => Promise.resolve(1)), 1)
  })

  it('makes the folder for its owner only', async () => {
    await exclusively(dir, () => Promise.resolve())
    assert.equal((await stat(dir)).mode & 0o777, 0o700)
    assert.equal((await stat(join(dir, 'lock'))).mode & 0o777, 0o700)
  })
})
