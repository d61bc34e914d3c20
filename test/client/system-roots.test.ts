import assert from 'node:assert/strict'
import {symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {systemRoots} from '../../src/client/system-roots.ts'
import {useTemporaryFolder} from '../pki/support.ts'

describe('systemRoots', () => {
  const folder = useTemporaryFolder()
  const put = async (name: string, text: string) => {
    const path = join(folder(), name)
    await writeFile(path, text)
    return path
  }

  it('are those of the first file of the system that is there, be it a link', async () => {
    const target = await put('bundle', 'roots')
    const link = join(folder(), 'link')
    await symlink(target, link)
    const places = [join(folder(), 'missing'), await put('empty', ''), link, await put('b', 'no')]
    assert.equal(await systemRoots({}, places), 'roots')
  })

  it('are those of SSL_CERT_FILE where it is set, which then must be there', async () => {
    const places = [await put('system', 'system')]
    assert.equal(await systemRoots({SSL_CERT_FILE: await put('own', 'own')}, places), 'own')
    await assert.rejects(systemRoots({SSL_CERT_FILE: join(folder(), 'gone')}, places), {
      code: 'FILE_UNREADABLE',
    })
  })

  it('have those of NODE_EXTRA_CA_CERTS added, where it is there', async () => {
    const places = [await put('system', 'system')]
    const extra = await put('extra', 'extra')
    assert.equal(await systemRoots({NODE_EXTRA_CA_CERTS: extra}, places), 'system\nextra')
    assert.equal(await systemRoots({NODE_EXTRA_CA_CERTS: '/missing'}, places), 'system')
  })

  it('are left to Node where the system has none in a file', async () => {
    assert.equal(await systemRoots({}, [join(folder(), 'missing')]), undefined)
  })
})
