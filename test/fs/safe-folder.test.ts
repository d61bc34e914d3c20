import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  symlink,
  writeFile,
} from 'node:fs/promises'
import {join} from 'node:path'
import {createFiles, recoverFolder} from '../../src/fs/file-groups.ts'
import {StagedFile, writeFileSafely} from '../../src/fs/files.ts'
import {ensureFolder, onFolderWarning} from '../../src/fs/folders.ts'
import {writeStreamSafely} from '../../src/fs/stream-file.ts'
import {removeLeftovers, takeTemporary} from '../../src/fs/temporary-names.ts'
import {useTemporaryFolder} from '../pki/support.ts'

const isRoot = process.geteuid?.() === 0
const NOBODY = 65_534

const WRITERS: Record<string, (folder: string) => Promise<unknown>> = {
  'a kubeconfig': (folder) => writeFileSafely(join(folder, 'secret'), 'text'),
  'a backup': (folder) =>
    writeStreamSafely(join(folder, 'secret'), (append) => append(Buffer.from('text'))),
  'a key': (folder) => createFiles(folder, 'pair', [{name: 'secret', data: 'text'}]),
  'a folder for keys': (folder) => ensureFolder(join(folder, 'new'), {repair: false}),
}

describe('folders that other users can change', () => {
  const home = useTemporaryFolder()
  const shared = () => join(home(), 'shared')
  beforeEach(async () => {
    await mkdir(shared())
    await chmod(shared(), 0o777)
  })

  for (const [what, write] of Object.entries(WRITERS)) {
    it(`are refused for ${what}, and so is what is below them`, async () => {
      const below = join(shared(), 'below')
      await mkdir(below, {mode: 0o700})
      for (const folder of [shared(), below]) {
        await assert.rejects(write(folder), {
          code: 'FILE_UNSAFE',
          message: /shared is not safe to use: every user may write to it/,
          suggestions: [
            `choose another folder, or run "chmod o-w ${shared()}" if nobody else needs it`,
          ],
        })
      }
      assert.deepEqual([await readdir(shared()), await readdir(below)], [['below'], []])
    })

    it(`are used for ${what} if the sticky bit keeps its file to its owner`, async () => {
      await chmod(shared(), 0o1777)
      await write(shared())
      assert.deepEqual(await readdir(shared()), [what === 'a folder for keys' ? 'new' : 'secret'])
    })

    it(`are refused for ${what} if they, or one above, belong to another user`, async function () {
      if (!isRoot) return this.skip()
      const below = join(shared(), 'below')
      await mkdir(below, {mode: 0o700})
      await chmod(shared(), 0o755)
      await chown(shared(), NOBODY, NOBODY)
      for (const folder of [shared(), below]) {
        await assert.rejects(write(folder), {code: 'FILE_UNSAFE', message: /another user/})
      }
    })
  }

  it('are refused on the way of a link too', async () => {
    await mkdir(join(shared(), 'below'), {mode: 0o700})
    await symlink(join(shared(), 'below'), join(home(), 'link'))
    await mkdir(join(shared(), 'below', 'inner'), {mode: 0o700})
    await assert.rejects(writeFileSafely(join(home(), 'link', 'inner', 'secret'), ''), {
      code: 'FILE_UNSAFE',
      message: /shared is not safe/,
    })
  })

  it('are a warning, once for each, if a group may write to them', async () => {
    const said: string[] = []
    onFolderWarning((line) => said.push(line))
    try {
      await chmod(shared(), 0o770)
      await writeFileSafely(join(shared(), 'secret'), 'a')
      await writeFileSafely(join(shared(), 'secret'), 'b')
    } finally {
      onFolderWarning(() => undefined)
    }
    assert.deepEqual(said, [
      `all users of a group may write to ${shared()}, and replace what is in it`,
    ])
  })

  it("keep another user's file, which is not replaced", async function () {
    if (!isRoot) return this.skip()
    await chmod(shared(), 0o1777)
    await writeFile(join(shared(), 'secret'), 'theirs')
    await chown(join(shared(), 'secret'), NOBODY, NOBODY)
    await assert.rejects(writeFileSafely(join(shared(), 'secret'), ''), {code: 'FILE_UNSAFE'})
    assert.deepEqual(await readdir(shared()), ['secret'])
  })

  it('are used whatever other users have put beside a group of files', async function () {
    if (!isRoot) return this.skip()
    await chmod(shared(), 0o1777)
    const theirs = ['.a.create', '.b.new', '.c.trustadm-done']
    for (const name of theirs) {
      await mkdir(join(shared(), name))
      await writeFile(join(shared(), name, 'theirs'), '')
      await chown(join(shared(), name), NOBODY, NOBODY)
    }
    await recoverFolder(shared())
    assert.equal(await createFiles(shared(), 'pair', [{name: 'secret', data: 'text'}]), true)
    assert.deepEqual(await readdir(shared()), [...theirs, 'secret'])
  })

  it('lead a file nowhere else once they were checked', async () => {
    await chmod(shared(), 0o1777)
    const staged = await StagedFile.create(join(shared(), 'secret'))
    await rename(shared(), join(home(), 'moved'))
    await mkdir(join(home(), 'trap'))
    await symlink(join(home(), 'trap'), shared())
    await writeFile(staged.path, 'text')
    await staged.commit()
    await staged.close()
    assert.deepEqual(await readdir(join(home(), 'trap')), [])
    assert.equal(await readFile(join(home(), 'moved', 'secret'), 'utf8'), 'text')
  })
})

describe('what other programs have in a folder', () => {
  const home = useTemporaryFolder()

  it('is not taken for what is left of a group of files', async () => {
    await writeFile(join(home(), '.migration.done'), '')
    await mkdir(join(home(), '.app.new'))
    await writeFile(join(home(), '.app.new', 'config'), 'new')
    await writeFile(join(home(), '.list.new'), '')
    const before = await readdir(home(), {recursive: true})
    await recoverFolder(home(), 'pair')
    assert.deepEqual(await readdir(home(), {recursive: true}), before)
  })
})

describe('what writers that were killed have left', () => {
  const home = useTemporaryFolder()
  const at = (name: string) => join(home(), name)
  const NAME = '.secret.0123456789abcdef-0123456789abcdef.tmp'
  const isThere = (path: string) => lstat(path).then(Boolean, () => false)

  it('stays for those who only write: the writer may live in another container', async () => {
    await writeFile(at(NAME), 'left')
    await writeFileSafely(at('secret'), 'a')
    assert.deepEqual((await readdir(home())).sort(), [NAME, 'secret'])
  })

  it('is removed by the holder of the lock, whatever its process id is', async () => {
    const names = [`.secret.${process.pid}-0123456789abcdef.tmp`, '.secret.1-0123456789abcdef.tmp']
    for (const name of [...names, NAME, '.secret.tmp', '.other.1-0123456789abcdef.tmp'])
      await writeFile(at(name), 'left')
    await mkdir(at('.pair.1-0123456789abcdef.tmp'), {mode: 0o700})
    await writeFile(at('.pair.1-0123456789abcdef.tmp/key'), 'left')
    const own = takeTemporary(home(), 'secret')
    await writeFile(own.path, 'in use')
    await removeLeftovers(home(), ['other'])
    const expected = ['.other.1-0123456789abcdef.tmp', '.secret.tmp', own.name]
    assert.deepEqual((await readdir(home())).sort(), expected.sort())
    own.release()
  })

  it('is removed by a writer who holds the same lock, of the same file alone', async () => {
    const own = `.a.backup.${'a'.repeat(16)}-0123456789abcdef.tmp`
    const others = [own.replace('.a.', '.b.'), NAME]
    for (const name of [own, ...others]) await writeFile(at(name), 'left')
    await writeStreamSafely(at('a.backup'), (append) => append(Buffer.from('a')), 'a'.repeat(16))
    assert.deepEqual((await readdir(home())).sort(), [...others, 'a.backup'].sort())
  })

  it('is followed through no link', async () => {
    await mkdir(at('target'))
    await writeFile(at('target/file'), 'kept')
    await symlink(at('target'), at(NAME))
    await removeLeftovers(home())
    assert.deepEqual([await isThere(at(NAME)), await readdir(at('target'))], [false, ['file']])
  })

  it('stays if others may write to it, or if it contains a folder', async () => {
    await mkdir(at(NAME))
    await writeFile(at(`${NAME}/file`), 'kept')
    await chmod(at(NAME), 0o777)
    await mkdir(at('.pair.1-0123456789abcdef.tmp/inner'), {recursive: true, mode: 0o700})
    await writeFile(at('.pair.1-0123456789abcdef.tmp/inner/file'), 'kept')
    await removeLeftovers(home())
    assert.ok(await isThere(at(`${NAME}/file`)))
    assert.ok(await isThere(at('.pair.1-0123456789abcdef.tmp/inner/file')))
  })

  it('stays if it is not ours, or if the folder is not safe', async function () {
    await writeFile(at(NAME), 'left')
    await chmod(home(), 0o777)
    await removeLeftovers(home())
    assert.ok(await isThere(at(NAME)))
    await chmod(home(), 0o700)
    if (!isRoot) return this.skip()
    await chown(at(NAME), NOBODY, NOBODY)
    await removeLeftovers(home())
    assert.ok(await isThere(at(NAME)))
  })

  it('is not touched in a folder that everybody may write to, where anybody may have planted it', async () => {
    await mkdir(at('target'))
    await writeFile(at('target/file'), 'kept')
    await mkdir(at('tmp'))
    await chmod(at('tmp'), 0o1777)
    await rename(at('target'), at('tmp/.x.99999999-0123456789abcdef.tmp'))
    await writeFileSafely(at('tmp/out.conf'), 'text')
    assert.ok(await isThere(at('tmp/.x.99999999-0123456789abcdef.tmp/file')))
  })
})
