import assert from 'node:assert/strict'
import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'

describe('loadKubeconfig', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
  })
  afterEach(() => rm(folder, {recursive: true}))

  async function file(name: string, content: object): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, JSON.stringify(content))
    return path
  }

  const cluster = (name: string, server: string) => ({name, cluster: {server}})

  it('reads the file that was named, and leaves the environment alone', async () => {
    const path = await file('a', {clusters: [cluster('one', 'https://a')]})
    const config = await loadKubeconfig(path, {environment: {KUBECONFIG: '/nowhere'}})
    assert.deepEqual(config.clusters, [cluster('one', 'https://a')])
  })

  it('joins the files of $KUBECONFIG: of each name the first one counts', async () => {
    const first = await file('a', {
      clusters: [cluster('one', 'https://first')],
      users: [{name: 'me', user: {token: 'first'}}],
    })
    const second = await file('b', {
      'current-context': 'second',
      clusters: [cluster('one', 'https://second'), cluster('two', 'https://two')],
      contexts: [{name: 'second', context: {cluster: 'two', user: 'me'}}],
    })
    const third = await file('c', {'current-context': 'third', users: [{name: 'me'}]})
    const list = [first, join(folder, 'missing'), '', second, third].join(':')
    const config = await loadKubeconfig(undefined, {environment: {KUBECONFIG: list}})
    assert.equal(config['current-context'], 'second')
    assert.deepEqual(config.clusters, [
      cluster('one', 'https://first'),
      cluster('two', 'https://two'),
    ])
    assert.deepEqual(config.users, [{name: 'me', user: {token: 'first'}}])
    assert.equal(config.contexts.length, 1)
  })

  it('looks in the home folder where nothing was said', async () => {
    await mkdir(join(folder, '.kube'))
    await file('.kube/config', {'current-context': 'home'})
    const config = await loadKubeconfig(undefined, {environment: {}, home: folder})
    assert.equal(config['current-context'], 'home')
  })

  it('is empty if there is no file at all', async () => {
    const config = await loadKubeconfig(undefined, {environment: {}, home: folder})
    assert.deepEqual([config.clusters, config['current-context']], [[], ''])
  })

  it('looks for files beside the kubeconfig that refers to them', async () => {
    const path = await file('a', {
      clusters: [{name: 'c', cluster: {'certificate-authority': 'pki/ca.crt'}}],
      users: [{name: 'u', user: {'client-key': '/abs/key', tokenFile: '../token'}}],
    })
    const {clusters, users} = await loadKubeconfig(path)
    assert.equal(clusters[0]?.cluster['certificate-authority'], join(folder, 'pki/ca.crt'))
    assert.deepEqual(users[0]?.user, {
      'client-key': '/abs/key',
      tokenFile: join(folder, '../token'),
    })
  })

  it('says that a named file does not exist, and what to do', async () => {
    const path = join(folder, 'missing')
    await assert.rejects(loadKubeconfig(path), (error: {code: string; suggestions: string[]}) => {
      assert.equal(error.code, 'KUBECONFIG_INVALID')
      assert.match(error.suggestions.join(), /trustadm init/)
      return true
    })
  })

  it('refuses a broken file in the list instead of passing over it', async () => {
    const path = join(folder, 'broken')
    await writeFile(path, '{{{')
    await assert.rejects(loadKubeconfig(undefined, {environment: {KUBECONFIG: path}}), {
      code: 'KUBECONFIG_INVALID',
    })
  })

  it('does not hang on a pipe', async () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    await assert.rejects(loadKubeconfig(path), {code: 'FILE_UNSAFE'})
  })
})
