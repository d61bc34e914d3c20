import assert from 'node:assert/strict'
import {link, mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {removeSecret, replaceSecret} from '../../src/fs/shred.ts'

describe('secrets that are destroyed', () => {
  let folder: string
  const path = (name: string) => join(folder, name)
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-shred-'))
    await writeFile(path('key'), 'secret')
    // A second name for the same bytes shows what became of them.
    await link(path('key'), path('same'))
  })
  afterEach(() => rm(folder, {recursive: true, force: true}))

  it('are overwritten and removed', async () => {
    await removeSecret(path('key'))
    await assert.rejects(readFile(path('key')))
    assert.deepEqual(await readFile(path('same')), Buffer.alloc(6))
  })

  it('are not missed', async () => {
    await removeSecret(path('none'))
  })

  it('are overwritten once another file has taken their place', async () => {
    await writeFile(path('next'), 'newer')
    await replaceSecret(path('key'), () => rename(path('next'), path('key')))
    assert.equal(await readFile(path('key'), 'utf8'), 'newer')
    assert.deepEqual(await readFile(path('same')), Buffer.alloc(6))
  })

  it('stay if they were not replaced', async () => {
    await replaceSecret(path('key'), () => Promise.resolve())
    assert.equal(await readFile(path('key'), 'utf8'), 'secret')
  })
})
