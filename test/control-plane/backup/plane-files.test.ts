import assert from 'node:assert/strict'
import {mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {render} from '../../../src/cli/output.ts'
import {backupView} from '../../../src/cli/views/backup.ts'
import {backUp} from '../../../src/control-plane/backup/backup.ts'
import {restore} from '../../../src/control-plane/backup/restore.ts'
import {noteRestore} from '../../../src/control-plane/backup/restored-log.ts'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'
import {loadPlane, savePlane} from '../../../src/control-plane/config/stored.ts'
import {systemClock} from '../../../src/runtime.ts'
import {openLmdbStorage} from '../../../src/storage/lmdb.ts'

const OPTIONS = {clock: systemClock, force: true}

describe('the CA of an added signer', () => {
  let folder = ''
  let dir = ''
  let file = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-files-'))
    dir = join(folder, 'plane')
    file = join(folder, 'one.backup')
  })
  afterEach(() => rm(folder, {recursive: true}))

  /** A control plane with a signer, whose files have this name. */
  async function planeWith(name: string): Promise<void> {
    const plane = await resolvePlane({dir, flags: {bindPort: 1}})
    const signer = {
      name: 'example.com/services',
      certificate: `${name}.crt`,
      key: `${name}.key`,
      usages: ['client auth'],
      organizations: [],
      names: [],
      maxValidityPeriod: 3_600_000,
      trustedFor: [],
    }
    await savePlane({...plane, settings: {...plane.settings, signers: [signer]}})
    await (await openLmdbStorage(dir)).close()
    await mkdir(join(dir, 'cas'))
    for (const end of ['crt', 'key']) await writeFile(join(dir, `${name}.${end}`), end)
    // With a key of its own, which is a file like those of the signer.
    await noteRestore(dir, 'a line', systemClock)
  }

  it('is in a backup, and back in its place after a restore', async () => {
    await planeWith('services')
    await backUp(dir, file, OPTIONS)
    await restore(file, dir, OPTIONS)
    for (const end of ['crt', 'key']) {
      assert.equal(await readFile(join(dir, `services.${end}`), 'utf8'), end)
    }
  })

  it('is a reason to refuse a backup that would leave it out', async () => {
    await planeWith('cas/services')
    await assert.rejects(backUp(dir, file, OPTIONS), {
      code: 'CONFLICT',
      message: `the settings name ${join(dir, 'cas/services.crt')}, which a backup would leave out`,
    })
  })

  it('is not in a backup of more files than a restore takes', async () => {
    await planeWith('services')
    const many = join(dir, 'pki', 'many')
    await mkdir(many, {recursive: true})
    for (let number = 0; number < 100; number++) {
      await writeFile(join(many, `${number}.crt`), '')
      // The same files once more.
      await symlink(many, join(dir, 'pki', `link-${number}`))
    }
    await assert.rejects(backUp(dir, file, OPTIONS), {code: 'FILE_UNSAFE'})
  })

  it('is in a backup with as many seen clients as a server keeps', async () => {
    await planeWith('services')
    const seen = join(dir, 'seen-clients.json')
    await writeFile(seen, '')
    await truncate(seen, 64 * 2 ** 20)
    await backUp(dir, file, OPTIONS)
  })
})

describe('a backup of a control plane with files elsewhere', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-elsewhere-'))
  })
  afterEach(() => rm(folder, {recursive: true}))

  it('contains the CAs of --cert-dir, and names the CAs that it does not contain', async () => {
    const [dir, certDir, own] = ['plane', 'certs', 'own'].map((name) => join(folder, name))
    assert.ok(dir && certDir && own)
    const plane = await resolvePlane({dir, flags: {bindPort: 1, certificatesDir: certDir}})
    const [certificate, key] = [join(own, 'ca.crt'), join(own, 'ca.key')]
    await savePlane({
      ...plane,
      settings: {...plane.settings, clusterSigning: {files: {certificate, key}, filesOf: {}}},
    })
    await (await openLmdbStorage(dir)).close()
    await mkdir(join(certDir, 'etcd'), {recursive: true})
    for (const name of ['ca.key', 'etcd/ca.key']) await writeFile(join(certDir, name), name)

    const file = join(folder, 'one.backup')
    const report = await backUp(dir, file, OPTIONS)
    assert.deepEqual(report.leftOut, [certificate, key])
    const printed = await render(report, 'table', backupView)
    assert.match(printed, /Not in it.+copy them yourself:\n {2}\S+own\/ca\.crt\n {2}\S+ca\.key\n/)

    const other = join(folder, 'other')
    await restore(file, other, OPTIONS)
    assert.equal((await loadPlane(other)).settings.certificatesDir, join(other, 'pki'))
    for (const name of ['ca.key', 'etcd/ca.key']) {
      assert.equal(await readFile(join(other, 'pki', name), 'utf8'), name)
    }
  })
})
