import assert from 'node:assert/strict'
import {readFile, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {followShared} from '../../../src/control-plane/ca-rotation/follow-shared.ts'
import {readGeneration} from '../../../src/control-plane/last-rotation.ts'
import {systemClock} from '../../../src/runtime.ts'
import {until} from '../../server/support.ts'
import {silent} from './support.ts'
import {TwoMachines} from './two-machines.ts'

const BACKOFF = {base: 5, max: 20}

describe('a server that follows a rotation, and the command of a CA that fails', () => {
  let machines: TwoMachines
  let stop: AbortController
  let problems: (string | undefined)[]
  let reloads: number

  // Works on the machine that rotates; on the other one it fails while there is a file "broken".
  const COMMAND =
    'cd "$(dirname "$TRUSTADM_CA_CERTIFICATE")/.."; echo "$TRUSTADM_ROTATION_STEP" >> ran; ! test -e broken'

  beforeEach(async () => {
    machines = await TwoMachines.create({
      authorities: [{name: 'a-ca', signs: 'clients', onChange: COMMAND}],
    })
    stop = new AbortController()
    problems = []
    reloads = 0
  })
  afterEach(async () => {
    stop.abort(new Error('the test is over'))
    await machines.remove()
  })

  const file = (name: string) => join(machines.follower.dir, name)
  const runs = async () => {
    const text = await readFile(file('ran'), 'utf8').catch(() => '')
    return text.split('\n').length - 1
  }
  const followed = () => readGeneration(machines.follower.context.plane)
  const rotateAll = () => machines.rotate('start', () => Promise.resolve(), ['a-ca'])
  const follow = () =>
    followShared(machines.follower.context.plane, machines.client(stop.signal), {
      clock: systemClock,
      log: silent,
      reload: () => Promise.resolve(void (reloads += 1)),
      onProblem: (problem) => problems.push(problem),
      signal: stop.signal,
      backoff: BACKOFF,
    })

  it('runs it again until it succeeds, and reports to have followed only then', async () => {
    await writeFile(file('broken'), '')
    await rotateAll()
    const following = follow()
    await until(async () => (await runs()) >= 3)
    assert.equal(await followed(), 0)
    assert.match(problems.at(-1) ?? '', /the command of the CA "a-ca" ended with 1/)
    assert.ok(reloads > 0, 'the server uses the files that are right')
    await rm(file('broken'))
    await until(() => problems.length > 0 && problems.at(-1) === undefined)
    assert.ok((await followed()) > 0)
    const count = await runs()
    stop.abort(new Error('over'))
    await following
    assert.equal(await runs(), count)
  })

  it('runs it for what is newer instead', async () => {
    await writeFile(file('broken'), '')
    await machines.rotate('start', () => Promise.resolve(), ['a-ca'])
    const following = follow()
    await until(async () => (await runs()) >= 2)
    await machines.rotate('abort')
    await rm(file('broken'))
    const {journal} = await machines.shared()
    await until(async () => (await followed()) === journal.shared)
    stop.abort(new Error('over'))
    await following
  })

  it('starts with the new files if it fails before the server serves, and runs it again later', async () => {
    await writeFile(file('broken'), '')
    await rotateAll()
    assert.equal(await machines.follow(), true)
    assert.deepEqual([await runs(), await followed()], [1, 0])
    await rm(file('broken'))
    assert.equal(await machines.follow(), true)
    assert.equal(await runs(), 2)
    assert.ok((await followed()) > 0)
    assert.equal(await machines.follow(), false)
  })
})
