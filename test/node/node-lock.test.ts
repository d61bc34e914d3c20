import assert from 'node:assert/strict'
import {mkdir, readdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {nodeLock} from '../../src/node/node-lock.ts'
import {useFolder} from './support.ts'

describe('the lock of a node', () => {
  const folder = useFolder()

  it('lets its holder remove what runs that were killed have left, but no request to renew', async () => {
    const dir = join(folder(), 'node')
    await mkdir(join(dir, 'pki'), {recursive: true, mode: 0o700})
    const left = '.kubelet.conf.1-0123456789abcdef.tmp'
    const live = '.renew-request.1-0123456789abcdef.tmp'
    for (const name of [left, live, `pki/${left}`]) await writeFile(join(dir, name), '')
    const lock = nodeLock(dir, () => undefined)
    await lock.hold()
    try {
      assert.deepEqual((await readdir(dir)).sort(), [live, 'lock', 'pki'])
      assert.deepEqual(await readdir(join(dir, 'pki')), [])
    } finally {
      await lock.release()
    }
  })
})
