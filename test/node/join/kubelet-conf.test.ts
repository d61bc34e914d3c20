import assert from 'node:assert/strict'
import {mkdir, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import {joinPhases, planJoin, runJoin} from '../../../src/node/join/join.ts'
import {parseCertificate, publicKeyOf} from '../../../src/pki/certificate.ts'
import {publicKeyDer} from '../../../src/pki/keys.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {
  fakeSystemd,
  files,
  inline,
  kubeadmNode,
  kubeletConf,
  nodePair,
  putPair,
  type IssuedPair,
} from '../../helpers/kubeadm-node.ts'
import {joinRequest, startJoinableCluster, useFolder, type JoinableCluster} from '../support.ts'

const LINK = 'kubelet-client-current.pem'

describe('join where a kubelet.conf is already', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const path = process.env.PATH
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  beforeEach(async () => {
    cluster = await startJoinableCluster()
    issuing = cluster.issueAll()
  })
  afterEach(async () => {
    process.env.PATH = path
    await issuing.stop()
    await cluster.stop()
  })
  const dir = () => join(folder(), 'node')
  const pki = () => join(dir(), 'pki')
  const conf = (at = dir()) => join(at, 'kubelet.conf')
  const write = async (user: string) => {
    await mkdir(dir(), {recursive: true, mode: 0o700})
    const text = kubeletConf({server: cluster.url, ca: cluster.ca}, user)
    await writeFile(conf(), text, {mode: 0o600})
    return text
  }
  const run = async (name: string, at = dir()) => {
    const request = joinRequest(cluster.settings(at, name))
    await runJoin(request, joinPhases())
    return request.lines.join('\n')
  }
  const requesters = async () =>
    (await cluster.admin.csrs.list()).items.map(({spec}) => spec.username)
  const keyOf = (pem: string) => publicKeyDer(publicKeyOf(parseCertificate(pem))).toString('base64')
  const current = async (certDir = pki()) => readFile(join(certDir, LINK), 'utf8')

  for (const [what, put] of [
    ['inside it', (pair: IssuedPair) => write(inline(pair))],
    [
      'in files beside it',
      async ({certificate, key}: IssuedPair) => {
        await write(files('node.crt', 'node.key'))
        await writeFile(join(dir(), 'node.crt'), certificate)
        await writeFile(join(dir(), 'node.key'), key, {mode: 0o600})
      },
    ],
  ] as const) {
    it(`uses the pair ${what}, and renews it at once: no token is used to ask`, async () => {
      const given = await nodePair(cluster.issuer, 'one')
      await put(given)
      const plan = await planJoin(joinRequest(cluster.settings(dir(), 'one')), joinPhases())
      assert.match(JSON.stringify(plan.changes), /use .* as .*kubelet-client-current\.pem/)
      const lines = await run('one')
      assert.match(lines, /is this node's own, and was stored in .*\n.*renewed with a new key/)
      assert.deepEqual(await requesters(), ['system:node:one'])
      assert.notEqual(keyOf(await current()), keyOf(given.certificate))
      const [user] = parseKubeconfig(await readFile(conf(), 'utf8')).users
      assert.equal(user?.user['client-certificate'], join(pki(), LINK))
      const kept = (await readdir(pki())).filter((name) => /^kubelet-client-\d/.test(name))
      const texts = await Promise.all(kept.map((name) => readFile(join(pki(), name), 'utf8')))
      assert.equal(texts.filter((text) => text.includes(given.key.trim())).length, 1)
      assert.ok(await cluster.admin.nodes.find('one'))
    })
  }

  it('works with a pair that cannot be renewed yet', async () => {
    const given = await nodePair(cluster.issuer, 'one')
    await write(inline(given))
    await issuing.stop()
    issuing = {stop: () => Promise.resolve()}
    const request = joinRequest(cluster.settings(dir(), 'one', {timeout: 3000}))
    await runJoin(request, joinPhases())
    assert.match(request.lines.join('\n'), /could not be renewed yet/)
    assert.equal(keyOf(await current()), keyOf(given.certificate))
  })

  it('refuses the pair of another node, and writes nothing', async () => {
    const text = await write(inline(await nodePair(cluster.issuer, 'two')))
    await assert.rejects(run('one'), {code: 'CONFLICT', message: /"system:node:two"/})
    assert.equal(await readFile(conf(), 'utf8'), text)
    assert.deepEqual(await readdir(dir()), ['kubelet.conf'])
  })

  it('refuses a pair that the cluster does not accept, and keeps it where it is', async () => {
    const text = await write(inline(await nodePair((await makeAuthority()).issuer, 'one')))
    await assert.rejects(run('one'), {
      code: 'CERTIFICATE_INVALID',
      message: /does not accept the certificate in .*kubelet\.conf/,
    })
    assert.equal(await readFile(conf(), 'utf8'), text)
    assert.deepEqual(await readdir(pki()), ['ca.crt'])
  })

  it('uses the pair of the folder whose link is missing, and restores that', async () => {
    const pair = await nodePair(cluster.issuer, 'one')
    await mkdir(dir(), {mode: 0o700})
    await putPair(pki(), 'kubelet-client', pair)
    await rm(join(pki(), LINK))
    assert.match(await run('one'), /was missing: it leads to .*\n.*the certificate is kept/)
    assert.equal(keyOf(await current()), keyOf(pair.certificate))
    assert.deepEqual(await requesters(), [])
  })

  describe('of a kubelet that joined with kubeadm', () => {
    const left = async (issuer: {issuer: JoinableCluster['issuer']; ca: string}) => {
      const fake = await fakeSystemd(folder(), 'active')
      process.env.PATH = fake.path
      const server = cluster.url
      return {...(await kubeadmNode(folder(), {server, ...issuer}, 'w1')), log: fake.log}
    }
    const isBack = async (
      {dir: at, certDir, log}: Awaited<ReturnType<typeof left>>,
      key: string,
    ) => {
      assert.equal(keyOf(await current(certDir)), key)
      assert.equal(await readFile(join(at, 'pki', 'ca.crt'), 'utf8'), cluster.ca)
      const [trusted] = parseKubeconfig(await readFile(conf(at), 'utf8')).clusters
      const data = trusted?.cluster['certificate-authority-data'] ?? ''
      assert.equal(Buffer.from(data, 'base64').toString().trim(), cluster.ca.trim())
      assert.match(await readFile(log, 'utf8'), /restart kubelet\.service\n$/)
      const names = await readdir(at)
      assert.equal(
        names.includes('cluster-info.yaml') || names.includes('node-manifest.json'),
        false,
      )
    }

    for (const [flag, more, phases] of [
      ['--for-kubelet, which would make the folder trustadm’s', {}, {forKubelet: true}],
      ['another --cert-dir than the kubelet’s', {certDir: '/nonexistent/pki'}, {}],
    ] as const) {
      it(`refuses ${flag}`, async () => {
        const machine = await left(cluster)
        const before = await readdir(machine.dir)
        const request = joinRequest(cluster.settings(machine.dir, 'w1', more))
        await assert.rejects(runJoin(request, joinPhases(phases)), {code: 'CONFLICT'})
        assert.deepEqual(await readdir(machine.dir), before)
        assert.equal(await readFile(machine.log, 'utf8'), '')
      })
    }

    it('brings it back with its key once its certificate has expired', async () => {
      const machine = await left(cluster)
      const expired = await nodePair(cluster.issuer, 'w1', {from: -2, to: -1})
      await rm(machine.certDir, {recursive: true})
      await putPair(machine.certDir, 'kubelet-client', expired)
      await run('w1', machine.dir)
      await isBack(machine, keyOf(expired.certificate))
    })

    it('brings it back with its key if the CAs were replaced while it was off', async () => {
      const old = await makeAuthority('kubernetes')
      const machine = await left({issuer: old.issuer, ca: old.pem})
      const key = keyOf(await current(machine.certDir))
      const before = await readFile(conf(machine.dir), 'utf8')
      await assert.rejects(
        run('w1', machine.dir),
        ({code, suggestions}: Error & {code: string; suggestions: string[]}) => {
          assert.equal(code, 'CONFLICT')
          assert.match(suggestions[0] ?? '', /pki\/ca\.crt away and run the command again/)
          return true
        },
      )
      assert.equal(await readFile(conf(machine.dir), 'utf8'), before)
      const ca = join(machine.dir, 'pki', 'ca.crt')
      await rename(ca, `${ca}.old`)
      await run('w1', machine.dir)
      await isBack(machine, key)
    })
  })
})
