import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {supervised} from '../../src/control-plane/background-program.ts'

describe('a program in the background', () => {
  let folder: string
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'trustadm-supervised-'))))
  afterEach(() => rm(folder, {recursive: true, force: true}))

  /** Runs lines of a shell, each time that they are started. Gives how often, and the exit code in the end. */
  async function run(lines: string): Promise<{starts: number; code: number; said: string}> {
    const file = join(folder, 'server.json')
    const starts = join(folder, 'starts')
    const body = `echo >> ${starts}; count=$(wc -l < ${starts}); file=${file}; ${lines}`
    const [shell, ...args] = supervised(['/bin/sh', '-c', body], file)
    const child = spawn(shell, args, {stdio: ['ignore', 'ignore', 'pipe']})
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    return {starts: (await readFile(starts, 'utf8')).length, code, said}
  }
  const ready = `printf '{"pid": %s,\\n}' $PPID > $file;`

  for (const [name, end] of [
    ['crashes', 'kill -ABRT $$'],
    ['is killed for want of memory', 'kill -KILL $$'],
    ['ends by an error', 'exit 1'],
  ] as const) {
    it(`is started again if it ${name}, until it ends as it was asked to`, async () => {
      const {starts, code, said} = await run(`${ready} [ $count = 2 ] && exit 0; ${end}`)
      assert.deepEqual([starts, code], [2, 0])
      assert.match(said, /the server crashed .* restarting in 1 s/)
    })
  }

  it('is not started again if a signal has ended it before it could handle one', async () => {
    const {starts, code} = await run(`${ready} kill -TERM $$`)
    assert.deepEqual([starts, code], [1, 143])
  })

  it('is not started again if it has never been ready: who started it says why', async () => {
    assert.deepEqual(await run('exit 3'), {starts: 1, code: 3, said: ''})
  })

  it('is not started again if somebody else has started one meanwhile', async () => {
    const other = `printf '{"pid": 1,\\n}' > $file;`
    assert.deepEqual(await run(`${other} exit 1`), {starts: 1, code: 1, said: ''})
  })
})
