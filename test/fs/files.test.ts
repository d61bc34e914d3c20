import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {
  chmod,
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  readFile,
  readdir,
  symlink,
  writeFile,
} from 'node:fs/promises'
import {join} from 'node:path'
import {readFileIfThere, readFileSafely, writeFileSafely} from '../../src/fs/files.ts'
import {ensureFolder} from '../../src/fs/folders.ts'
import {useTemporaryFolder} from '../pki/support.ts'

const modeOf = async (path: string) => (await lstat(path)).mode & 0o7777
const isRoot = process.geteuid?.() === 0
const NOBODY = 65_534

/** Runs with another umask, and always sets it back. */
async function withUmask(mask: number, act: () => Promise<void>): Promise<void> {
  const before = process.umask(mask)
  try {
    await act()
  } finally {
    process.umask(before)
  }
}

const makePipe = (path: string) => execFileSync('mkfifo', [path])

describe('writeFileSafely', () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'secret')

  for (const mask of [0, 0o022, 0o777]) {
    it(`writes for the owner only under umask 0${mask.toString(8)}`, async () => {
      await withUmask(mask, async () => {
        await writeFileSafely(file(), 'text')
      })
      assert.equal(await modeOf(file()), 0o600)
      assert.equal(await readFile(file(), 'utf8'), 'text')
    })
  }

  it('gives the mode that is asked for, whatever the umask', async () => {
    await withUmask(0o777, () => writeFileSafely(file(), 'text', {mode: 0o644}))
    assert.equal(await modeOf(file()), 0o644)
  })

  it('replaces a file with loose modes by one without', async () => {
    await writeFile(file(), 'old', {mode: 0o666})
    await chmod(file(), 0o666)
    await writeFileSafely(file(), 'new')
    assert.equal(await modeOf(file()), 0o600)
    assert.equal(await readFile(file(), 'utf8'), 'new')
  })

  it('leaves nothing else in the folder', async () => {
    await writeFileSafely(file(), 'a')
    await writeFileSafely(file(), 'b')
    assert.deepEqual(await readdir(folder()), ['secret'])
  })

  it('lets several writers of one file each write the whole of it', async () => {
    const texts = Array.from({length: 20}, (_, index) => String(index).repeat(1000))
    await Promise.all(texts.map((text) => writeFileSafely(file(), text)))
    assert.ok(texts.includes(await readFile(file(), 'utf8')))
    assert.deepEqual(await readdir(folder()), ['secret'])
  })

  it('refuses a symbolic link and leaves its target alone', async () => {
    const target = join(folder(), 'target')
    await writeFile(target, 'untouched')
    await symlink(target, file())
    await assert.rejects(writeFileSafely(file(), 'new'), {
      code: 'FILE_UNSAFE',
      message: /symbolic link/,
    })
    assert.equal(await readFile(target, 'utf8'), 'untouched')
  })

  it('refuses a link to nowhere', async () => {
    await symlink(join(folder(), 'nowhere'), file())
    await assert.rejects(writeFileSafely(file(), 'new'), {code: 'FILE_UNSAFE'})
    assert.deepEqual(await readdir(folder()), ['secret'])
  })

  it('refuses a hard link and leaves its other name alone', async () => {
    const other = join(folder(), 'other')
    await writeFile(other, 'untouched')
    await link(other, file())
    await assert.rejects(writeFileSafely(file(), 'new'), {
      code: 'FILE_UNSAFE',
      message: /hard link/,
    })
    assert.equal(await readFile(other, 'utf8'), 'untouched')
  })

  it('refuses a pipe and a folder', async () => {
    makePipe(file())
    await assert.rejects(writeFileSafely(file(), 'new'), {code: 'FILE_UNSAFE', message: /pipe/})
    await mkdir(join(folder(), 'folder'))
    await assert.rejects(writeFileSafely(join(folder(), 'folder'), 'new'), {code: 'FILE_UNSAFE'})
  })

  it("refuses another user's file", async function () {
    if (!isRoot) return this.skip()
    await writeFile(file(), 'theirs')
    await chown(file(), NOBODY, NOBODY)
    await assert.rejects(writeFileSafely(file(), 'new'), {
      code: 'FILE_UNSAFE',
      message: /another user/,
    })
    assert.equal(await readFile(file(), 'utf8'), 'theirs')
  })

  it('refuses a folder that is a link', async () => {
    await mkdir(join(folder(), 'outside'))
    await symlink(join(folder(), 'outside'), join(folder(), 'inside'))
    await assert.rejects(writeFileSafely(join(folder(), 'inside', 'key'), 'new'), {
      code: 'FILE_UNSAFE',
    })
    assert.deepEqual(await readdir(join(folder(), 'outside')), [])
  })

  it('says that the folder is not there', async () => {
    await assert.rejects(writeFileSafely(join(folder(), 'no', 'key'), ''), {
      code: 'FILE_UNWRITABLE',
    })
  })
})

describe('readFileSafely', () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'file')

  it('returns undefined or an error for a file that is not there', async () => {
    assert.equal(await readFileIfThere(file()), undefined)
    await assert.rejects(readFileSafely(file()), {
      code: 'FILE_UNREADABLE',
      suggestions: ['check the path, and what is there'],
    })
  })

  it('reads a pipe that a shell gave, up to its limit', () => {
    const module = new URL('../../src/fs/files.ts', import.meta.url).href
    const script = `import {readFileSafely} from '${module}'
      process.stdout.write(await readFileSafely('/dev/stdin', {followLinks: true, maxBytes: 1000}))`
    const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script]
    const read = (bytes: number) => {
      const line = `head -c ${bytes} /dev/zero | "$@"`
      return execFileSync('sh', ['-c', line, 'sh', ...node], {stdio: ['ignore', 'pipe', 'ignore']})
    }
    assert.equal(read(1000).length, 1000)
    assert.throws(() => read(1001))
  })

  it('does not wait on a pipe', async () => {
    makePipe(file())
    await assert.rejects(readFileSafely(file()), {code: 'FILE_UNSAFE'})
    await assert.rejects(readFileSafely(file(), {followLinks: true}), {code: 'FILE_UNSAFE'})
  })

  it('reads up to its limit and not beyond', async () => {
    await writeFile(file(), Buffer.alloc(100_000))
    assert.equal((await readFileSafely(file(), {maxBytes: 100_000})).length, 100_000)
    await assert.rejects(readFileSafely(file(), {maxBytes: 99_999}), {
      code: 'FILE_UNSAFE',
      message: /larger/,
    })
    await assert.rejects(readFileSafely('/dev/zero', {followLinks: true}), {code: 'FILE_UNSAFE'})
  })

  it('follows links only if that is asked for', async () => {
    await writeFile(join(folder(), 'target'), 'text')
    await symlink('target', file())
    await assert.rejects(readFileSafely(file()), {code: 'FILE_UNSAFE', message: /symbolic link/})
    assert.equal((await readFileSafely(file(), {followLinks: true})).toString(), 'text')
  })

  it('locks others out of a secret that is there with loose modes', async () => {
    await writeFile(file(), 'secret')
    await chmod(file(), 0o644)
    assert.equal((await readFileSafely(file(), {secret: true})).toString(), 'secret')
    assert.equal(await modeOf(file()), 0o600)
  })

  it('refuses a secret that has a second name', async () => {
    await writeFile(file(), 'secret')
    await link(file(), join(folder(), 'other'))
    await assert.rejects(readFileSafely(file(), {secret: true}), {
      code: 'FILE_UNSAFE',
      message: /hard link/,
    })
  })

  it("refuses a secret that is another user's", async function () {
    if (!isRoot) return this.skip()
    await writeFile(file(), 'secret')
    await chown(file(), NOBODY, NOBODY)
    await assert.rejects(readFileSafely(file(), {secret: true}), {
      code: 'FILE_UNSAFE',
      message: /another user/,
    })
  })
})

describe('ensureFolder', () => {
  const folder = useTemporaryFolder()
  const inner = () => join(folder(), 'a', 'b')

  for (const mask of [0, 0o777]) {
    it(`makes folders for the owner only under umask 0${mask.toString(8)}`, async () => {
      await withUmask(mask, () => ensureFolder(inner()))
      assert.equal(await modeOf(inner()), 0o700)
      assert.equal(await modeOf(join(folder(), 'a')), 0o700)
    })
  }

  it('locks others out of a folder that is there, unless told not to', async () => {
    await ensureFolder(inner())
    await chmod(inner(), 0o755)
    await ensureFolder(inner(), {repair: false})
    assert.equal(await modeOf(inner()), 0o755)
    await ensureFolder(inner())
    assert.equal(await modeOf(inner()), 0o700)
  })

  it('refuses to take a shared folder away from its users', async () => {
    await ensureFolder(inner())
    await chmod(inner(), 0o1777)
    await assert.rejects(ensureFolder(inner()), {code: 'FILE_UNSAFE', message: /shared/})
    assert.equal(await modeOf(inner()), 0o1777)
  })

  it('refuses a link, and names what it points to', async () => {
    const target = join(folder(), 'target')
    await mkdir(target, {mode: 0o755})
    await symlink('target', join(folder(), 'a'))
    await assert.rejects(ensureFolder(join(folder(), 'a')), {
      code: 'FILE_UNSAFE',
      suggestions: [`name the folder itself: ${target}`],
    })
    assert.equal(await modeOf(target), 0o755)
  })

  it('refuses a file, and a path through a file', async () => {
    await writeFile(join(folder(), 'a'), '')
    await assert.rejects(ensureFolder(join(folder(), 'a')), {code: 'FILE_UNSAFE'})
    await assert.rejects(ensureFolder(inner()), {code: 'FILE_UNWRITABLE'})
  })

  it("refuses another user's folder, and a way through another user's link", async function () {
    if (!isRoot) return this.skip()
    await ensureFolder(inner())
    await chown(inner(), NOBODY, NOBODY)
    await assert.rejects(ensureFolder(inner()), {code: 'FILE_UNSAFE', message: /another user/})
    await symlink('a', join(folder(), 'theirs'))
    await lchown(join(folder(), 'theirs'), NOBODY, NOBODY)
    await assert.rejects(ensureFolder(join(folder(), 'theirs', 'c')), {code: 'FILE_UNSAFE'})
    assert.deepEqual(await readdir(join(folder(), 'a')), ['b'])
  })
})
