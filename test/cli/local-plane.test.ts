import assert from 'node:assert/strict'
import {mkdtemp, mkdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {findLocalPlane} from '../../src/cli/local-plane.ts'
import {fileOf} from '../../src/control-plane/config/plane.ts'

describe('the issuance log on this machine', () => {
  let dir = ''
  let log = ''
  let conf = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trustadm-local-'))
    log = fileOf({dir}, 'issuances')
    conf = join(dir, 'admin.conf')
    await mkdir(dirname(log), {recursive: true})
    await writeFile(log, '')
    await writeFile(conf, '')
  })
  after(() => rm(dir, {recursive: true, force: true}))

  const found = async (flags: {kubeconfig?: string; dir?: string}, KUBECONFIG = '') =>
    (await findLocalPlane(flags, {KUBECONFIG, TRUSTADM_DIR: '/nowhere'})).log

  it('is that of the kubeconfig or the folder that was named', async () => {
    assert.equal(await found({kubeconfig: conf}), log)
    assert.equal(await found({dir}), log)
    assert.equal(await found({kubeconfig: '/other/admin.conf'}, conf), undefined)
  })

  it('is that of the kubeconfig in $KUBECONFIG', async () => {
    assert.equal(await found({}, conf), log)
  })

  it('is not looked for if $KUBECONFIG names several, or one of another place', async () => {
    assert.equal(await found({}, `${conf}:/other/admin.conf`), undefined)
    assert.equal(await found({}, '/other/config'), undefined)
    assert.equal(await found({}), undefined)
  })
})
