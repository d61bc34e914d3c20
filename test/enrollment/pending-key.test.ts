import assert from 'node:assert/strict'
import {mkdtemp, readdir, rm, stat, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {discardPendingKey, ensurePendingKey} from '../../src/enrollment/pending-key.ts'
import {generateKeys} from '../../src/pki/keys.ts'

describe('the key of a request that is under way', () => {
  let folder = ''
  const path = () => join(folder, 'pending.key')
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-pending-'))
  })
  afterEach(() => rm(folder, {recursive: true, force: true}))

  it('is on the disk before it is used, for its owner only', async () => {
    const {isResumed} = await ensurePendingKey(path(), generateKeys)
    assert.equal(isResumed, false)
    assert.equal((await stat(path())).mode & 0o777, 0o600)
  })

  it('is the same for a later run', async () => {
    const first = await ensurePendingKey(path(), generateKeys)
    const second = await ensurePendingKey(path(), generateKeys)
    assert.equal(second.isResumed, true)
    assert.equal(second.pem, first.pem)
    assert.ok(second.keys.publicKey.equals(first.keys.publicKey))
  })

  it('replaces a file that holds no key', async () => {
    await writeFile(path(), 'half of a k', {mode: 0o600})
    assert.equal((await ensurePendingKey(path(), generateKeys)).isResumed, false)
    assert.equal((await ensurePendingKey(path(), generateKeys)).isResumed, true)
  })

  it('is gone once it is discarded, and discarding it again is fine', async () => {
    await ensurePendingKey(path(), generateKeys)
    await discardPendingKey(path())
    await discardPendingKey(path())
    assert.deepEqual(await readdir(folder), [])
  })

  it('is not discarded through a link', async () => {
    await symlink('/etc/hostname', path())
    await assert.rejects(discardPendingKey(path()), {code: 'FILE_UNSAFE'})
  })
})
