import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {connect} from '../../src/client/connect.ts'
import {LOCAL, PROGRAM, type ProgramFixture} from '../helpers/program.ts'

/** Kills one init after the other once it has printed so many lines, one for each thing that it has done: the last one completes. */
export async function completesAfterKills(
  {dir, init}: ProgramFixture,
  counts: readonly number[],
): Promise<void> {
  for (const count of counts) {
    const child = spawn(process.execPath, [PROGRAM, 'init', '--dir', dir, ...LOCAL], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(child, 'exit')
    let seen = 0
    for await (const _line of createInterface(child.stderr)) if (++seen === count) break
    assert.equal(seen, count)
    child.kill('SIGKILL')
    await ended
  }
  const last = await init('--output', 'json')
  assert.equal(last.code, 0, last.stderr)
  const names = await readdir(join(dir, 'pki'))
  assert.deepEqual(
    names.filter((name) => name.startsWith('.')),
    [],
  )
  const client = await connect(join(dir, 'admin.conf'))
  assert.ok(await client.namespaces.find({name: 'kube-system'}))
  await client.close()
}
