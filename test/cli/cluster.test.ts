import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {findKubeconfig} from '../../src/cli/cluster.ts'

describe('the kubeconfig that a command uses', () => {
  let plane = ''
  before(async () => {
    plane = await mkdtemp(join(tmpdir(), 'trustadm-cluster-'))
    await writeFile(join(plane, 'admin.conf'), '')
  })
  after(() => rm(plane, {recursive: true, force: true}))

  it('is the one that was named', async () => {
    const found = await findKubeconfig({kubeconfig: 'a.conf', dir: plane}, {KUBECONFIG: 'b.conf'})
    assert.equal(found, 'a.conf')
  })

  it('is admin.conf of the folder that was named, whatever the environment says', async () => {
    const found = await findKubeconfig({dir: plane}, {KUBECONFIG: 'b.conf'})
    assert.equal(found, join(plane, 'admin.conf'))
  })

  it('is looked for as kubectl does where $KUBECONFIG is set', async () => {
    const environment = {KUBECONFIG: 'b.conf', TRUSTADM_DIR: plane}
    assert.equal(await findKubeconfig({}, environment), undefined)
  })

  it('is admin.conf of the control plane on this machine', async () => {
    assert.equal(await findKubeconfig({}, {TRUSTADM_DIR: plane}), join(plane, 'admin.conf'))
  })

  it('is looked for as kubectl does where there is no control plane', async () => {
    assert.equal(await findKubeconfig({}, {TRUSTADM_DIR: join(plane, 'none')}), undefined)
  })
})
