import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdir, readFile, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {replaceFiles} from '../../src/fs/file-groups.ts'
import {writeFileSafely, writeFilesSafely} from '../../src/fs/files.ts'
import {ensureFolder} from '../../src/fs/folders.ts'
import {save, useTemporaryFolder} from '../pki/support.ts'

const run = promisify(execFile)
const WRITER = fileURLToPath(new URL('limited-writer.ts', import.meta.url))
const OLD = {file: 'old', 'pair.key': 'old key', 'pair.crt': 'old certificate'}
const large = 'x'.repeat(1024 * 1024)

async function requireOldState(folder: string): Promise<void> {
  assert.deepEqual((await readdir(folder)).sort(), Object.keys(OLD).sort())
  for (const [name, text] of Object.entries(OLD)) {
    assert.equal(await readFile(join(folder, name), 'utf8'), text)
  }
}

describe('a disk that takes no more', () => {
  const folder = useTemporaryFolder()

  it('gives a clean error and keeps the old files where a file may not grow', async () => {
    await save(folder(), OLD)
    const script = 'ulimit -f 64; exec "$0" --import tsx "$1" "$2"'
    const {stdout} = await run('sh', ['-c', script, process.execPath, WRITER, folder()])
    assert.equal(stdout, 'FILE_UNWRITABLE,FILE_UNWRITABLE')
    await requireOldState(folder())
  })

  describe('on a file system of its own', () => {
    const disk = () => join(folder(), 'disk')
    const mount = (...options: string[]) =>
      run('mount', ['-t', 'tmpfs', '-o', options.join(), 'tmpfs', disk()])

    beforeEach(async function () {
      await mkdir(disk())
      await mount('size=64k', 'mode=700').catch(() => {
        process.stderr.write('      skipped: only root may mount a small file system\n')
        this.skip()
      })
      await save(disk(), OLD)
    })
    afterEach(async () => {
      await run('umount', [disk()]).catch(() => undefined)
    })

    it('gives a clean error and keeps the old files when it is full', async () => {
      const failure = {code: 'FILE_UNWRITABLE', message: /the disk is full/}
      await assert.rejects(writeFileSafely(join(disk(), 'file'), large), failure)
      const files = [
        {name: 'pair.key', data: 'new'},
        {name: 'pair.crt', data: large},
      ]
      await assert.rejects(replaceFiles(disk(), 'pair', files), failure)
      await requireOldState(disk())
    })

    it('replaces none of several files that change together when it is full', async () => {
      const files = [
        {path: join(disk(), 'file'), data: 'new'},
        {path: join(disk(), 'pair.crt'), data: large},
      ]
      await assert.rejects(writeFilesSafely(files), {code: 'FILE_UNWRITABLE'})
      await requireOldState(disk())
    })

    it('gives a clean error and keeps the old files when it is read-only', async () => {
      await mount('remount', 'ro')
      const failure = {code: 'FILE_UNWRITABLE', message: /read-only/}
      await assert.rejects(writeFileSafely(join(disk(), 'file'), 'new'), failure)
      await assert.rejects(replaceFiles(disk(), 'pair', [{name: 'pair.key', data: 'new'}]), failure)
      await assert.rejects(ensureFolder(join(disk(), 'more')), failure)
      await requireOldState(disk())
    })
  })
})
