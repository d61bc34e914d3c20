import assert from 'node:assert/strict'
import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {dirOf, joinedDirOf, nodeDirOf} from '../../src/cli/folders.ts'
import {useFolder} from '../node/support.ts'

describe('the folder that a user names', () => {
  for (const dir of ['/srv/a\nExecStartPre=/tmp/evil', '/a\r', '/a\u001b[2J', '/a\u0085']) {
    it(`is refused if it has a control character: ${JSON.stringify(dir)}`, () => {
      assert.throws(() => dirOf(dir), {code: 'USAGE'})
      assert.throws(() => nodeDirOf(dir), {code: 'USAGE'})
    })
  }

  it('may have any other character', () => {
    assert.equal(dirOf('/srv/ä b%$"'), '/srv/ä b%$"')
  })
})

describe('the folder of a node that has joined', () => {
  const folder = useFolder()
  const before = process.env.TRUSTADM_NODE_DIR
  const ofKubeadm = () => join(folder(), 'kubernetes')
  const found = (named?: string) =>
    joinedDirOf(named, ofKubeadm(), nodeDirOf(join(folder(), 'own')))
  beforeEach(async () => {
    delete process.env.TRUSTADM_NODE_DIR
    for (const name of ['own', 'kubernetes']) await mkdir(join(folder(), name))
  })
  afterEach(() => {
    if (before === undefined) delete process.env.TRUSTADM_NODE_DIR
    else process.env.TRUSTADM_NODE_DIR = before
  })

  it('is the default one, if neither it nor that of kubeadm has a node', async () => {
    assert.equal(await found(), join(folder(), 'own'))
  })

  it('is that of kubeadm, if only a kubelet has joined', async () => {
    await writeFile(join(ofKubeadm(), 'kubelet.conf'), '')
    assert.equal(await found(), ofKubeadm())
    assert.equal(await found('/named'), '/named')
    process.env.TRUSTADM_NODE_DIR = '/named-too'
    assert.equal(await joinedDirOf(undefined, ofKubeadm()), '/named-too')
  })

  it('is the default one, if that has a node', async () => {
    await writeFile(join(ofKubeadm(), 'kubelet.conf'), '')
    await writeFile(join(folder(), 'own', 'cluster-info.yaml'), '')
    assert.equal(await found(), join(folder(), 'own'))
  })
})
