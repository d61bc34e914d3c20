import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdir, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {readLog} from '../../../src/controllers/signing/read-log.ts'
import {fixedClock, useTemporaryFolder} from '../../pki/support.ts'

const run = promisify(execFile)
const WRITER = fileURLToPath(new URL('limited-log.ts', import.meta.url))

const issuance: Issuance = {
  decision: 'issued',
  signer: 'kubernetes.io/kube-apiserver-client',
  request: 'a',
  uid: 'u',
  requester: 'ada',
  subject: 'x'.repeat(3000),
  names: {dns: [], ips: [], emails: [], uris: []},
}

describe('the issuance log on a disk that takes no more', () => {
  const folder = useTemporaryFolder()

  it('holds just the lines that were acknowledged where a file may not grow', async () => {
    const path = join(folder(), 'issuance.log')
    const script = 'ulimit -f 64; exec "$0" --import tsx "$1" "$2"'
    const {stdout} = await run('sh', ['-c', script, process.execPath, WRITER, path])
    const {written, codes} = JSON.parse(stdout) as {written: number; codes: string[]}
    assert.deepEqual(codes, ['FILE_UNWRITABLE'])
    assert.ok(written > 0)
    const {count, torn} = await readLog(path)
    assert.deepEqual({count, torn}, {count: written, torn: 0})
  })

  describe('on a file system of its own', () => {
    const disk = () => join(folder(), 'disk')
    let log: FileIssuanceLog

    beforeEach(async function () {
      await mkdir(disk())
      await run('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', disk()]).catch(() => {
        process.stderr.write('      skipped: only root may mount a small file system\n')
        this.skip()
      })
      log = new FileIssuanceLog(join(disk(), 'issuance.log'), fixedClock())
    })
    afterEach(async () => {
      await log.close()
      await run('umount', [disk()]).catch(() => undefined)
    })

    it('refuses lines while it is full, and goes on with the chain when there is room', async () => {
      await log.append(issuance)
      await writeFile(join(disk(), 'filler'), 'x'.repeat(1024 * 1024)).catch(() => undefined)
      const failure = {code: 'FILE_UNWRITABLE', message: /the disk is full/}
      await assert.rejects(log.append(issuance), failure)
      await assert.rejects(log.append(issuance), failure)
      await rm(join(disk(), 'filler'))
      await log.append(issuance)
      const {count, torn} = await readLog(log.path)
      assert.deepEqual({count, torn}, {count: 2, torn: 0})
    })
  })
})
