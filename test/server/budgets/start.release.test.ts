import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'
import {temporaryFolder} from '../../storage/temporary-folder.ts'

const SCRIPT = join(import.meta.dirname, 'start-server.ts')
const COUNT = 8
const LABELS = 150_000

/** As an older version took it from anybody with a token: its labels take 30 times their text once they are parsed. */
function manyLabels(name: string): Buffer {
  const labels = Object.fromEntries(Array.from({length: LABELS}, (_, index) => [`l${index}`, '']))
  return Buffer.from(
    JSON.stringify({
      metadata: {name, uid: name, creationTimestamp: new Date().toISOString(), labels},
      spec: {
        request: 'bm90IGEgcmVxdWVzdA==',
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        username: 'system:bootstrap:abcdef',
      },
      status: {},
    }),
  )
}

describe('a store that an older version let somebody fill', () => {
  it('does not keep the server from starting, nor from listing and deleting what is there', async function () {
    this.timeout(180_000)
    const {folder, remove} = await temporaryFolder()
    const storage = await openLmdbStorage(folder)
    const prefix = '/registry/certificates.k8s.io/certificatesigningrequests/'
    for (let index = 0; index < COUNT; index++)
      await storage.create(`${prefix}large-${index}`, manyLabels(`large-${index}`))
    await storage.create('/registry/core/configmaps/default/broken', Buffer.from('not JSON'))
    await storage.close()

    const {status, stdout, stderr} = spawnSync(
      process.execPath,
      ['--max-old-space-size=320', '--import', 'tsx', SCRIPT, folder],
      {encoding: 'utf8'},
    )
    assert.equal(status, 0, stderr.slice(-2000))
    const {listed, deleted, errors} = JSON.parse(stdout) as Record<string, unknown>
    assert.deepEqual([listed, deleted], [COUNT, 200])
    assert.deepEqual(errors, [
      'left out of what is served: Error: /registry/core/configmaps/default/broken in the store cannot be read',
    ])
    await remove()
  })
})
