import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {link, lstat, mkdir, readdir, rename, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {removeLeftovers} from '../../src/fs/temporary-names.ts'
import {privateKeyPem} from '../../src/pki/keys.ts'
import {
  createPair,
  isMatching,
  readPair,
  replacePair,
  type LeafMaterial,
} from '../../src/pki/pair-store.ts'
import {sleep} from '../../src/runtime.ts'
import {save, testAuthority, testLeaf, useTemporaryFolder} from './support.ts'

const place = {kind: 'pair', crt: 'leaf.crt', key: 'leaf.key'} as const
const WRITER = fileURLToPath(new URL('crashing-writer.ts', import.meta.url))

describe('pairs of key and certificate', function () {
  this.timeout(120_000)
  const folder = useTemporaryFolder()
  const dir = () => join(folder(), 'pki')
  let [old, first, second] = [] as unknown as [LeafMaterial, LeafMaterial, LeafMaterial]

  before(async () => {
    const {issuer} = await testAuthority()
    const make = async (): Promise<LeafMaterial> => {
      const {pem, keys} = await testLeaf(issuer)
      return {certificatePem: pem, keyPem: privateKeyPem(keys.privateKey)}
    }
    ;[old, first, second] = [await make(), await make(), await make()]
  })

  it('come back as they were written, for the owner only', async () => {
    await replacePair(dir(), place, old)
    assert.deepEqual(await readPair(dir(), place), old)
    for (const name of ['leaf.crt', 'leaf.key']) {
      assert.equal((await lstat(join(dir(), name))).mode & 0o7777, 0o600)
    }
    assert.equal((await lstat(dir())).mode & 0o7777, 0o700)
    assert.deepEqual((await readdir(dir())).sort(), ['leaf.crt', 'leaf.key'])
  })

  it('are not there before they are written', async () => {
    assert.equal(await readPair(dir(), place), undefined)
  })

  it('are created once, and never over another one', async () => {
    assert.equal(await createPair(dir(), place, first), true)
    assert.equal(await createPair(dir(), place, second), false)
    assert.deepEqual(await readPair(dir(), place), first)
    assert.deepEqual((await readdir(dir())).sort(), ['leaf.crt', 'leaf.key'])
  })

  it('are not created beside half of another one', async () => {
    await mkdir(dir())
    await save(dir(), {'leaf.crt': old.certificatePem})
    assert.equal(await createPair(dir(), place, first), false)
    assert.deepEqual(await readPair(dir(), place), {certificatePem: old.certificatePem})
    assert.deepEqual(await readdir(dir()), ['leaf.crt'])
  })

  it('are created by one of many who try at once', async () => {
    const results = await Promise.all(
      Array.from({length: 12}, (_, index) => createPair(dir(), place, index % 2 ? first : second)),
    )
    const found = await readPair(dir(), place)
    assert.ok(found && isMatching(found))
    assert.ok(results.some(Boolean))
  })

  it('stay whole while many write and read', async () => {
    await replacePair(dir(), place, old)
    const writers = Array.from({length: 8}, (_, index) =>
      replacePair(dir(), place, index % 2 ? first : second),
    )
    const readers = Array.from({length: 8}, () => readPair(dir(), place))
    for (const found of await Promise.all(readers)) assert.ok(found && isMatching(found))
    await Promise.all(writers)
    const last = await readPair(dir(), place)
    assert.ok(last && isMatching(last))
    assert.deepEqual((await readdir(dir())).sort(), ['leaf.crt', 'leaf.key'])
  })

  it('are refused where half of one is a link', async () => {
    await mkdir(dir(), {mode: 0o700})
    await writeFile(join(folder(), 'target'), 'untouched')
    await symlink(join(folder(), 'target'), join(dir(), 'leaf.key'))
    for (const act of [replacePair, createPair]) {
      await assert.rejects(act(dir(), place, first), {code: 'FILE_UNSAFE'})
    }
    await assert.rejects(readPair(dir(), place), {code: 'FILE_UNSAFE'})
    assert.deepEqual(await readdir(dir()), ['leaf.key'])
  })

  it('are refused where half of one has a second name elsewhere', async () => {
    await replacePair(dir(), place, old)
    await link(join(dir(), 'leaf.key'), join(folder(), 'copy'))
    await assert.rejects(readPair(dir(), place), {code: 'FILE_UNSAFE'})
  })

  it('are refused in a folder that is a link', async () => {
    await mkdir(join(folder(), 'outside'))
    await symlink(join(folder(), 'outside'), dir())
    await assert.rejects(replacePair(dir(), place, first), {code: 'FILE_UNSAFE'})
    assert.deepEqual(await readdir(join(folder(), 'outside')), [])
  })

  it('become the new one where a writer was killed between the two halves', async () => {
    await replacePair(dir(), place, old)
    const staged = join(dir(), '.leaf.new')
    await mkdir(staged, {mode: 0o700})
    await save(staged, {'leaf.key': first.keyPem, 'leaf.crt': first.certificatePem})
    await rename(join(staged, 'leaf.key'), join(dir(), 'leaf.key'))
    assert.deepEqual(await readPair(dir(), place), first)
    assert.deepEqual((await readdir(dir())).sort(), ['leaf.crt', 'leaf.key'])
  })

  it('refuse what is planted where a writer stages', async () => {
    await replacePair(dir(), place, old)
    await mkdir(join(folder(), 'planted'))
    await save(join(folder(), 'planted'), {'leaf.key': first.keyPem})
    await symlink(join(folder(), 'planted'), join(dir(), '.leaf.new'))
    await assert.rejects(readPair(dir(), place), {code: 'FILE_UNSAFE'})
  })

  // The test holds the lock of the folder, as it were: nobody else works there.
  describe('whose writer is killed', () => {
    /** Returns what the writer said before it ended. */
    async function runWriter(how: string, killAt: number, killAfter?: number): Promise<string> {
      const args = ['--import', 'tsx', WRITER, dir(), how, join(folder(), 'pairs'), String(killAt)]
      const child = spawn(process.execPath, args, {stdio: ['ignore', 'pipe', 'inherit']})
      let said = ''
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        if (killAfter !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfter)
      })
      await once(child, 'close')
      assert.match(said, /^ready\n/)
      return said
    }

    beforeEach(async () => {
      await mkdir(join(folder(), 'pairs'))
      await save(join(folder(), 'pairs'), {
        '1.crt': first.certificatePem,
        '1.key': first.keyPem,
        '2.crt': second.certificatePem,
        '2.key': second.keyPem,
      })
    })

    it('before any of its steps, are the old one or the new one', async () => {
      const seen = new Set<string>()
      for (let killAt = 1; ; killAt += 1) {
        await replacePair(dir(), place, old)
        const said = await runWriter('replace', killAt)
        const found = await readPair(dir(), place)
        await removeLeftovers(dir())
        assert.deepEqual((await readdir(dir())).sort(), ['leaf.crt', 'leaf.key'], `step ${killAt}`)
        assert.ok(found && isMatching(found), `step ${killAt}`)
        seen.add(found.keyPem === old.keyPem ? 'old' : 'new')
        if (said.includes('steps')) break
      }
      assert.deepEqual([...seen], ['old', 'new'])
    })

    it('before any of its steps, are created as a whole or not at all', async () => {
      const seen = new Set<string>()
      for (let killAt = 1; ; killAt += 1) {
        const target = join(folder(), `pki`)
        const said = await runWriter('create', killAt)
        const found = await readPair(target, place)
        await removeLeftovers(target)
        assert.ok(found === undefined || isMatching(found), `step ${killAt}`)
        assert.deepEqual(
          (await readdir(target).catch(() => [])).length,
          found ? 2 : 0,
          `step ${killAt}`,
        )
        seen.add(found ? 'new' : 'none')
        await rename(target, join(folder(), `done-${killAt}`)).catch(() => undefined)
        if (said.includes('steps')) break
      }
      assert.deepEqual([...seen], ['none', 'new'])
    })

    it('at any time, are one that was written', async () => {
      await replacePair(dir(), place, old)
      for (let round = 0; round < 12; round += 1) {
        await runWriter('replace', 0, Math.random() * 60)
        const found = await readPair(dir(), place)
        assert.ok(found && isMatching(found))
        await removeLeftovers(dir())
        assert.deepEqual((await readdir(dir())).sort(), ['leaf.crt', 'leaf.key'])
        await sleep(1)
      }
    })
  })
})
