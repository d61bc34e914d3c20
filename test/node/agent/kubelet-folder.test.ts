import assert from 'node:assert/strict'
import {readFile, readdir, readlink, rename, rm, stat, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {openNodeSession, openRenewalSession} from '../../../src/cli/node/session.ts'
import {parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import {openAgent, type NodeAgent} from '../../../src/node/agent/agent.ts'
import {attendOnce} from '../../../src/node/agent/duties.ts'
import {clientStore, openNodeHome, servingStore} from '../../../src/node/agent/node-home.ts'
import {readNodeStatus} from '../../../src/node/agent/node-status.ts'
import {renewNow} from '../../../src/node/agent/renew-now.ts'
import {runAgentOnce} from '../../../src/node/agent/run-agent.ts'
import {planLeave} from '../../../src/node/leave.ts'
import {trustReportOf} from '../../../src/node/trust-report.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {
  fakeSystemd,
  inline,
  kubeadmNode,
  kubeletConf,
  nodePair,
  putPair,
} from '../../helpers/kubeadm-node.ts'
import {startJoinableCluster, useFolder, type JoinableCluster} from '../support.ts'

const never = new AbortController().signal
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

describe('the folder of a kubelet that joined with kubeadm', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const lines: string[] = []
  const log = (line: string) => void lines.push(line)
  const clock = {shift: 0, now: () => new Date(Date.now() + clock.shift)}
  const path = process.env.PATH
  const agents: NodeAgent[] = []
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  let [dir, certDir] = ['', '']
  beforeEach(async () => {
    lines.length = 0
    clock.shift = 0
    cluster = await startJoinableCluster()
    issuing = cluster.issueAll()
    const {url: server, ca, issuer} = cluster
    ;({dir, certDir} = await kubeadmNode(folder(), {server, ca, issuer}, 'w1'))
    await cluster.admin.nodes.create({
      metadata: {name: 'w1'},
      status: {addresses: [{type: 'InternalIP', address: '10.1.1.1'}]},
    })
  })
  afterEach(async () => {
    process.env.PATH = path
    for (const agent of agents.splice(0)) await agent.close()
    await issuing.stop()
    await cluster.stop()
  })
  const conf = () => join(dir, 'kubelet.conf')
  const authorities = join('pki', 'ca.crt')
  const systemd = async (state: Parameters<typeof fakeSystemd>[1]) => {
    const fake = await fakeSystemd(folder(), state)
    process.env.PATH = fake.path
    return async () => (await readFile(fake.log, 'utf8')).split('\n').filter((line) => line !== '')
  }
  const restarts = async (asked: () => Promise<string[]>) =>
    (await asked()).filter((line) => line.startsWith('restart')).length
  const renew = async (flags: object = {}) =>
    renewNow(await openRenewalSession({dir, ...flags}, {clock, log}))
  const serials = async () => {
    const home = await openNodeHome(dir)
    const [client, serving] = [await clientStore(home).read(), await servingStore(home).read()]
    return [client?.certificate.serial, serving?.certificate.serial]
  }
  const report = async () => trustReportOf(await cluster.admin.nodes.get('w1'))
  const rotate = async () => {
    const [next, callers] = [await makeAuthority('kubernetes'), await makeAuthority('kubelet-ca')]
    const issuers = {kubeletClientCa: cluster.ca + callers.pem}
    await cluster.publish({server: cluster.url, ca: cluster.ca + next.pem, issuers})
    const [old, both] = [cluster.ca, cluster.ca + next.pem].map((pem) =>
      parseBundle(pem).map(pinOf),
    )
    return {next, callers, old, both}
  }
  const open = async (settling = 0) => {
    const agent = await openAgent({...(await openNodeSession({dir}, {clock, log})), settling})
    agents.push(agent)
    return agent
  }
  const attend = (agent: NodeAgent) => attendOnce(agent.duties, clock, never)

  it('is understood by node status, which writes nothing', async () => {
    const before = await readdir(dir)
    const {nodeName, certificates, clusterInfo} = await readNodeStatus(dir, undefined, clock)
    assert.equal(nodeName, 'w1')
    assert.deepEqual(
      certificates.map(({name, state, file}) => [name, state, file]),
      [
        ['client', 'valid', join(certDir, 'kubelet-client-current.pem')],
        ['serving', 'valid', join(certDir, 'kubelet-server-current.pem')],
      ],
    )
    assert.equal(clusterInfo.server, cluster.url)
    assert.deepEqual(await readdir(dir), before)
  })

  it('gets new certificates and CAs from node renew, with one restart, and a report', async () => {
    const asked = await systemd('active')
    const {next, callers, both} = await rotate()
    const extra = await makeAuthority('of the operator')
    await writeFile(join(dir, authorities), cluster.ca + extra.pem)
    const [before, text] = [await serials(), await readFile(conf(), 'utf8')]

    await renew()
    const after = await serials()
    assert.ok(after.every((serial, index) => serial && serial !== before[index]))
    assert.deepEqual(await asked(), ['is-active kubelet.service', 'restart kubelet.service'])

    const serving = await servingStore(await openNodeHome(dir)).read()
    assert.deepEqual(serving?.certificate.names.dns, ['w1'])
    assert.deepEqual(serving.certificate.names.ips, ['10.77.0.13'])

    const fingerprints = (pem: string) =>
      parseBundle(pem)
        .map(({fingerprint}) => fingerprint)
        .sort()
    const changed = await readFile(conf(), 'utf8')
    const [{cluster: trusted} = {cluster: undefined}] = parseKubeconfig(changed).clusters
    const data = trusted?.['certificate-authority-data'] ?? ''
    assert.deepEqual(
      fingerprints(Buffer.from(data, 'base64').toString()),
      fingerprints(cluster.ca + next.pem),
    )
    // All else in it is as kubeadm left it.
    const rest = (one: string) =>
      one
        .replace(/certificate-authority-data: .*/, '')
        .replace(/ {4}extensions:\n(?: {4}[- ].*\n)*/, '')
    assert.equal(rest(changed), rest(text))
    assert.deepEqual(
      fingerprints(await readFile(join(dir, authorities), 'utf8')),
      fingerprints(cluster.ca + next.pem + callers.pem + extra.pem),
    )

    const reported = await report()
    assert.ok(reported)
    assert.deepEqual(reported.trusts.sort(), both?.sort())
    assert.equal(reported.client.serial, after[0])
    assert.equal(reported.serving?.serial, after[1])
  })

  it('keeps its modes, and nothing in it becomes trustadm’s to delete', async () => {
    await systemd('active')
    await rotate()
    await renew()
    for (const one of [dir, join(dir, 'pki'), certDir]) assert.equal(await modeOf(one), 0o755)
    assert.equal(await modeOf(join(dir, authorities)), 0o644)
    const names = await readdir(dir)
    for (const name of ['cluster-info.yaml', 'node-manifest.json'])
      assert.equal(names.includes(name), false, name)
    assert.equal((await readdir(certDir)).filter((name) => name.includes('2026-01-31')).length, 2)
    await assert.rejects(
      planLeave(dir),
      ({code, suggestions}: Error & {code: string; suggestions: string[]}) => {
        assert.equal(code, 'NOT_FOUND')
        assert.match(suggestions.join('\n'), /kubeadm reset/)
        return true
      },
    )
  })

  it('drops a CA that cluster-info has dropped, and none of the operator', async () => {
    await systemd('active')
    const {next} = await rotate()
    await renew()
    const extra = await makeAuthority('of the operator')
    const file = join(dir, authorities)
    await writeFile(file, (await readFile(file, 'utf8')) + extra.pem)
    const {url: server, ca} = cluster
    await cluster.publish({server, ca})
    await renew()
    const names = async () =>
      parseBundle(await readFile(file, 'utf8')).map(({fingerprint}) => fingerprint)
    assert.deepEqual(
      (await names()).sort(),
      parseBundle(ca + extra.pem)
        .map(({fingerprint}) => fingerprint)
        .sort(),
    )
    const {info} = await openNodeHome(dir)
    assert.deepEqual([info.ca?.trim(), info.issuers], [ca.trim(), undefined])
    assert.notEqual(info.ca, ca + next.pem)
  })

  it('is left alone by the next run, which knows from kubelet.conf what the last one learned', async () => {
    const asked = await systemd('active')
    await rotate()
    await renew()
    const text = await readFile(conf(), 'utf8')
    const agent = await open()
    const reported = await report()
    lines.length = 0
    await attend(agent)
    assert.deepEqual(lines, [])
    assert.equal(await restarts(asked), 1)
    assert.equal(await readFile(conf(), 'utf8'), text)
    assert.deepEqual(await report(), reported)
  })

  it('is not reported as followed until its kubelet was restarted', async () => {
    await systemd('broken')
    await rotate()
    await assert.rejects(renew(), {
      code: 'ON_CHANGE_FAILED',
      message: '"systemctl restart kubelet.service" ended with 1',
    })
    assert.equal(await report(), undefined)
    const after = await serials()

    const asked = await systemd('active')
    await runAgentOnce(await openNodeSession({dir}, {clock, log}), never)
    assert.deepEqual(await serials(), after)
    assert.equal(await restarts(asked), 1)
    assert.equal((await report())?.client.serial, after[0])
  })

  it('needs --on-change where systemd does not run the kubelet', async () => {
    await systemd('unknown')
    await assert.rejects(renew(), {
      code: 'ON_CHANGE_FAILED',
      message: /the kubelet has to be restarted to use the new files, and no systemd runs/,
    })
    assert.equal(await report(), undefined)
    const done = join(folder(), 'restarted')
    await renew({'on-change': `echo "$TRUSTADM_CHANGED" >'${done}'`})
    assert.equal(await readFile(done, 'utf8'), 'client-certificate,serving-certificate\n')
    assert.notEqual(await report(), undefined)
  })

  it('is not restarted for an old change while that cannot be noted: each run would do it again', async () => {
    const asked = await systemd('active')
    const announced = {'client-certificate': 'of an earlier run'}
    const state = {client: {}, serving: {}, clusterInfo: {}, announced}
    await writeFile(join(dir, 'node-state.json'), JSON.stringify(state))
    const agent = await open()
    await rename(dir, `${dir}-away`)
    await assert.rejects(attend(agent))
    assert.equal(await restarts(asked), 0)
    await rename(`${dir}-away`, dir)
    clock.shift = 60_000
    await attend(agent)
    assert.equal(await restarts(asked), 1)
  })

  it('refuses another folder of certificates than that of the kubelet, which would not look there', async () => {
    const asked = await systemd('active')
    const before = await serials()
    const other = join(folder(), 'other')
    await assert.rejects(
      renew({'cert-dir': other}),
      ({message, suggestions}: Error & {suggestions: string[]}) => {
        assert.ok(message.includes(`in ${certDir}, not in ${other}`), message)
        assert.equal(suggestions[0], 'leave out --cert-dir')
        return true
      },
    )
    await assert.rejects(readNodeStatus(dir, other, clock), {code: 'CONFLICT'})
    await renew({'cert-dir': certDir})
    assert.notDeepEqual(await serials(), before)
    assert.equal(await restarts(asked), 1)
  })

  it('of one node is not that of another, and the way to another name is not node leave', async () => {
    const asOther = openNodeSession({dir, 'node-name': 'w2'}, {clock, log})
    await assert.rejects(
      asOther,
      ({code, suggestions}: Error & {code: string; suggestions: string[]}) => {
        assert.equal(code, 'CONFLICT')
        assert.match(suggestions.join('\n'), /kubeadm reset/)
        assert.doesNotMatch(suggestions.join('\n'), /node leave/)
        return true
      },
    )
  })

  it('gets a ca.crt back that is missing, before its kubelet is restarted', async () => {
    await systemd('active')
    await rm(join(dir, authorities))
    await renew()
    assert.equal(await readFile(join(dir, authorities), 'utf8'), cluster.ca)
    assert.equal(await modeOf(join(dir, authorities)), 0o644)
    assert.match(lines.join('\n'), /ca\.crt was written again\n(?:.*\n)*running "systemctl restart/)
  })

  it('needs no restart of a kubelet that is stopped', async () => {
    const asked = await systemd('inactive')
    await renew()
    assert.equal(await restarts(asked), 0)
    assert.match(lines.join('\n'), /the kubelet does not run: it uses the new files when it starts/)
    assert.notEqual(await report(), undefined)
  })

  it('gets all that follows a new CA from node run, with one restart', async () => {
    const asked = await systemd('active')
    const agent = await open(15_000)
    await rotate()
    await attend(agent)
    await agent.renew(never)
    await attend(agent)
    clock.shift = 14_000
    await attend(agent)
    assert.equal(await restarts(asked), 0)
    clock.shift = 16_000
    await attend(agent)
    assert.equal(await restarts(asked), 1)
  })

  it('leaves certificates to its kubelet, which is not restarted for those it got itself', async () => {
    const asked = await systemd('active')
    const agent = await open()
    const before = await serials()
    // Of two hours, one is over and then 48 minutes: a kubelet has renewed at 90 %.
    clock.shift = 48 * 60_000
    await attend(agent)
    assert.deepEqual(await serials(), before)
    await rm(join(certDir, 'kubelet-client-current.pem'))
    const pair = await nodePair(cluster.issuer, 'w1', {to: 5})
    await putPair(certDir, 'kubelet-client', pair, '2026-02-01-00-00-00')
    await attend(agent)
    assert.equal(await restarts(asked), 0)
    assert.equal((await report())?.client.serial, (await serials())[0])
  })

  it('on a machine of the control plane keeps its ca.crt, of which the signer allows one CA', async () => {
    await systemd('active')
    await writeFile(join(dir, 'pki', 'ca.key'), 'key')
    await rotate()
    await renew()
    assert.equal(await readFile(join(dir, authorities), 'utf8'), cluster.ca)
  })

  it('with a pair inside kubelet.conf: it is stored, renewed at once, and replaced by the link', async () => {
    await systemd('active')
    await rm(certDir, {recursive: true})
    const given = await nodePair(cluster.issuer, 'w1')
    const {url: server, ca} = cluster
    await writeFile(conf(), kubeletConf({server, ca}, inline(given)), {mode: 0o600})
    const flags = {dir, 'cert-dir': certDir}
    await runAgentOnce(await openNodeSession(flags, {clock, log}), never)
    const [user] = parseKubeconfig(await readFile(conf(), 'utf8')).users
    const link = join(certDir, 'kubelet-client-current.pem')
    assert.deepEqual(user?.user, {'client-certificate': link, 'client-key': link})
    const stored = (await readdir(certDir)).filter((name) => name !== basename(link)).sort()
    assert.equal(stored.length, 2)
    assert.equal(await readlink(link), stored[1])
    assert.equal(
      await readFile(join(certDir, stored[0] ?? ''), 'utf8').then((text) =>
        text.includes(given.key.trim()),
      ),
      true,
    )
  })

  it('keeps a pair inside kubelet.conf there while it cannot be renewed', async () => {
    await systemd('active')
    await rm(certDir, {recursive: true})
    const given = await nodePair(cluster.issuer, 'w1')
    const {ca} = cluster
    const text = kubeletConf({server: 'https://127.0.0.1:1', ca}, inline(given))
    await writeFile(conf(), text, {mode: 0o600})
    const flags = {dir, 'cert-dir': certDir}
    const once = async () => runAgentOnce(await openNodeSession(flags, {clock, log}), never)
    await assert.rejects(once(), {code: 'SERVER_UNREACHABLE'})
    assert.equal(await readFile(conf(), 'utf8'), text)
    lines.push('again')
    // The next run tries again, although the pair is stored now and far from its end.
    await assert.rejects(once(), {code: 'SERVER_UNREACHABLE'})
    assert.match(lines.join('\n'), /is this node's own, and was stored in/)
    assert.equal((await readdir(certDir)).length, 2)
  })

  it('says how an expired machine comes back, with its own folder and name', async () => {
    const {certificate, key} = await nodePair(cluster.issuer, 'w1', {from: -2, to: -1})
    await writeFile(join(certDir, 'kubelet-client-current.pem'), certificate + key)
    const session = await openRenewalSession({dir}, {clock, log})
    await assert.rejects(
      renewNow(session),
      ({code, suggestions}: Error & {code: string; suggestions: string[]}) => {
        assert.equal(code, 'NODE_CERTIFICATE_EXPIRED')
        assert.match(suggestions.join('\n'), new RegExp(`with "--dir ${dir} --node-name w1" added`))
        assert.doesNotMatch(suggestions.join('\n'), /node leave/)
        return true
      },
    )
  })
})
