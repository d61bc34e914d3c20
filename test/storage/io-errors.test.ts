import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {canInject, injecting} from '../helpers/strace.ts'
import {temporaryFolder} from './temporary-folder.ts'

const WRITER = fileURLToPath(new URL('faulty-writer.ts', import.meta.url))

/** Where an error of the disk strikes: while room is made, pages are written or synced, the meta page is written. */
const FAULTS = [
  {call: 'fdatasync', when: '3+4'},
  {call: 'pwrite64', when: '3+19'},
  {call: 'pwrite64', when: '4+17'},
  {call: 'pwrite64', when: '9+7'},
]

describe('an lmdb store on a disk with errors', () => {
  let folder: string
  let remove: () => Promise<void>

  before(function () {
    if (canInject()) return
    process.stderr.write('      skipped: strace cannot inject faults here\n')
    this.skip()
  })
  beforeEach(async () => {
    ;({folder, remove} = await temporaryFolder())
    await (await openLmdbStorage(folder)).close()
  })
  afterEach(() => remove())

  for (const {call, when} of FAULTS) {
    it(`has what was acknowledged and nothing that was refused after EIO at ${call} (${when})`, async function () {
      this.timeout(60_000)
      const command = [process.execPath, '--import', 'tsx', WRITER, folder, '30']
      const data = join(folder, 'store', 'data.mdb')
      const [program = '', ...args] = injecting(data, call, when, command)
      // One thread, so that calls are counted in the order of the commits.
      const env = {...process.env, UV_THREADPOOL_SIZE: '1'}
      const {status, signal, stdout, stderr} = spawnSync(program, args, {env, encoding: 'utf8'})

      // LMDB may overrun its memory while it reports a failed write: then the process ends itself, or the C library does.
      if (status !== 0) {
        assert.equal(signal, 'SIGABRT', stderr)
        assert.equal(call, 'pwrite64')
      }
      const lines = stdout.trim().split('\n')
      const told = (sign: string) =>
        lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1))
      assert.ok(status !== 0 || told('-').length > 0, 'no write was hit')
      const storage = await openLmdbStorage(folder)
      const found = (await storage.list('/k/')).entries.map(({key}) => key)
      await storage.close()
      assert.deepEqual(new Set(found), new Set(told('+')))
    })
  }
})
