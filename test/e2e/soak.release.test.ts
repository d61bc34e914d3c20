import assert from 'node:assert/strict'
import {mkdtemp, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {requestTimes} from '../../soak/honest/kubectl.ts'
import {soak} from '../../soak/soak.ts'
import {failuresOf} from '../../soak/verdict.ts'

/** Time is not what is tested here: a busy machine may take long. */
const BOUNDS = {wait: 60_000, memory: 2 ** 40}
const ATTACKS = ['administrators', 'malformed']

const leftovers = async () =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('trustadm-soak-')).sort()

describe('a soak', function () {
  this.timeout(120_000)
  const {TMPDIR} = process.env

  // Another soak on the same machine has leftovers of its own.
  before(async () => {
    process.env.TMPDIR = await mkdtemp(join(tmpdir(), 'trustadm-soak-test-'))
  })
  after(async () => {
    await rm(tmpdir(), {recursive: true, force: true})
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })

  it('counts what attackers were answered, and finds every write of honest clients after a kill', async () => {
    const before = await leftovers()
    const {signal} = new AbortController()

    const findings = await soak({seconds: 4, attacks: ATTACKS, signal})

    assert.deepEqual(failuresOf(findings, BOUNDS), [])
    assert.deepEqual(Object.keys(findings.attacks).sort(), ATTACKS)
    assert.ok(Number(findings.attacks.administrators?.answers[403]) > 0)
    assert.ok(Number(findings.attacks.malformed?.answers[400]) > 0)
    assert.ok(findings.writes > 0)
    for (const what of ['create', 'join', 'watch event'])
      assert.ok(
        findings.waits.some((wait) => wait.what === what && wait.requests > 0),
        what,
      )
    assert.ok(findings.processor > 0 && findings.peak > 0)
    assert.deepEqual(await leftovers(), before)
  })

  it('ends early, and removes everything, if it is interrupted', async () => {
    const before = await leftovers()
    const interrupted = new AbortController()
    const tell = () => interrupted.abort(new Error('interrupted'))

    const run = soak({seconds: 600, attacks: ATTACKS, signal: interrupted.signal, tell})

    await assert.rejects(run, {message: 'interrupted'})
    assert.deepEqual(await leftovers(), before)
  })

  it('reads the time of a request from what kubectl says, in either of its ways', () => {
    assert.deepEqual(requestTimes('GET https://x/api 200 OK in 5 milliseconds'), [5])
    assert.deepEqual(requestTimes('"Response" verb="GET" status="200 OK" milliseconds=7'), [7])
  })
})
