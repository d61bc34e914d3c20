import assert from 'node:assert/strict'
import {spawn, spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {membersOf, processIdentity, statFields} from '../../src/control-plane/process-identity.ts'
import {until} from '../server/support.ts'

/** Ends its first thread at once, and the other one when its input ends. */
const PROGRAM = `
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
`

describe('a process whose first thread has ended', () => {
  before(function () {
    if (process.platform !== 'linux' || spawnSync('python3', ['-V']).status !== 0) this.skip()
  })

  it('counts until its last thread has ended: it keeps files and locks', async () => {
    const child = spawn('python3', ['-c', PROGRAM], {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    const pid = child.pid ?? 0
    const ended = once(child, 'exit')
    try {
      const identity = await processIdentity(pid)
      await until(async () => (await statFields(pid))[0] === 'Z')
      assert.equal(await processIdentity(pid), identity)
      assert.deepEqual(await membersOf(pid), [pid])
    } finally {
      child.stdin.end()
    }
    await ended
    assert.equal(await processIdentity(pid), undefined)
    assert.deepEqual(await membersOf(pid), [])
  })
})
