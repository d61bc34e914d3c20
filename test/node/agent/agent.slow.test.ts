import assert from 'node:assert/strict'
import {createPublicKey} from 'node:crypto'
import {readFile, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {formatClusterInfo} from '../../../src/bootstrap/cluster-info.ts'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../../src/bootstrap/token.ts'
import {requestWords} from '../../../src/csr/pairing-words.ts'
import {KUBELET_CLIENT} from '../../../src/csr/signers.ts'
import {readAgentState} from '../../../src/node/agent/agent-state.ts'
import {attendAll} from '../../../src/node/agent/duties.ts'
import {clientStore, servingStore} from '../../../src/node/agent/node-home.ts'
import {isOverdue, readNodeStatus} from '../../../src/node/agent/node-status.ts'
import {requestRenewal} from '../../../src/node/agent/renewal-request.ts'
import {tokenCredential} from '../../../src/node/bootstrap-credential.ts'
import {nodeFile} from '../../../src/node/node-files.ts'
import {trustReportOf} from '../../../src/node/trust-report.ts'
import {encodeBundle, parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {parsePrivateKey} from '../../../src/pki/keys.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {until} from '../../server/support.ts'
import {TOKEN_TEXT} from '../support.ts'
import {useAgents} from './support.ts'

const MINUTE = 60_000
const never = new AbortController().signal

describe('the agent of a node', function () {
  this.timeout(30_000)
  const {cluster, dir, home, clock, waiting, lines, open, attend} = useAgents()
  const stored = async () => {
    const pair = await clientStore(await home()).read()
    assert.ok(pair)
    return pair
  }
  const serial = async () => (await stored()).certificate.serial
  /** Those that the join has made. */
  const joined = new Set<string | undefined>()
  beforeEach(async () => {
    const {items} = await cluster().admin.csrs.list()
    for (const {metadata} of items) joined.add(metadata.name)
  })
  const requests = async () =>
    (await cluster().admin.csrs.list()).items.filter(({metadata}) => !joined.has(metadata.name))
  const report = async () => trustReportOf(await cluster().admin.nodes.get('one'))
  /** Publishes other CAs. */
  const publish = async (ca: string) => {
    const {configMaps} = cluster().admin
    const info = await configMaps.get({namespace: 'kube-public', name: 'cluster-info'})
    const kubeconfig = formatClusterInfo({server: cluster().url, ca})
    await configMaps.update({...info, data: {...info.data, kubeconfig}})
  }
  /** The CAs of the cluster, and one more. */
  const twoAuthorities = async () => {
    const other = await makeAuthority('next')
    return encodeBundle([...parseBundle(cluster().ca), ...parseBundle(other.pem)])
  }

  it('keeps a certificate that is not due, and asks for nothing', async () => {
    const before = await serial()
    await attend(await open())
    assert.equal(await serial(), before)
    assert.deepEqual(await requests(), [])
  })

  it('renews one that is due as the kubelet does: as itself, with a new key', async () => {
    const before = await stored()
    const agent = await open()
    clock.shift = 50 * MINUTE
    await attend(agent)
    const after = await stored()
    assert.notEqual(after.certificate.serial, before.certificate.serial)
    assert.ok(!after.certificate.publicKeyDer.equals(before.certificate.publicKeyDer))
    const [request] = await requests()
    assert.equal(request?.spec.username, 'system:node:one')
    assert.equal(request.spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet')
    assert.deepEqual(request.spec.usages, ['digital signature', 'client auth'])
    assert.equal(request.spec.expirationSeconds, undefined)
  })

  it('renews although the record of its files is damaged, and reports that', async () => {
    const before = await serial()
    await writeFile(nodeFile(dir(), 'manifest'), '{')
    const agent = await open()
    clock.shift = 50 * MINUTE
    await assert.rejects(attend(agent), {
      code: 'CONFIG_INVALID',
      message: /node-manifest.json is not a valid list of the files/,
    })
    assert.notEqual(await serial(), before)
    assert.equal(await readFile(nodeFile(dir(), 'manifest'), 'utf8'), '{')
  })

  it('asks for the duration that it is told', async () => {
    const agent = await open({seconds: 600})
    clock.shift = 50 * MINUTE
    await attend(agent)
    assert.equal((await requests())[0]?.spec.expirationSeconds, 600)
  })

  it('only loads and warns if the feature gate is off', async () => {
    const agent = await open({rotatesClient: false})
    clock.shift = 50 * MINUTE
    await assert.rejects(attend(agent), {code: 'NODE_CERTIFICATE_DUE'})
    assert.deepEqual(await requests(), [])
  })

  it('reports on its Node what it trusts and holds', async () => {
    const agent = await open()
    await attend(agent)
    const first = await report()
    assert.deepEqual(first?.trusts, [cluster().pin])
    assert.equal(first.client.serial, await serial())
    assert.equal(first.lastRenewal, undefined)
    clock.shift = 50 * MINUTE
    await attend(agent)
    const second = await report()
    assert.equal(second?.client.serial, await serial())
    assert.ok(second.lastRenewal)
  })

  it('reports again on a Node that was deleted and registered again', async () => {
    const {nodes} = cluster().admin
    for (const serving of [false, true]) {
      const agent = await open({serving})
      await attend(agent)
      const {metadata, status = {}} = await nodes.get('one')
      await nodes.delete('one')
      await nodes.create({metadata: {name: 'one', labels: metadata.labels ?? {}}, status})
      clock.shift += 4 * MINUTE
      await attend(agent)
      assert.equal(await report(), undefined)
      clock.shift += 6 * MINUTE
      await attend(agent)
      assert.equal((await report())?.client.serial, await serial())
    }
  })

  it('recovers an expired certificate with the old key, and then rotates', async () => {
    const before = await stored()
    const agent = await open({bootstrap: () => Promise.resolve(tokenCredential(TOKEN_TEXT))})
    // Only this one has expired: what the cluster issues is valid.
    const expired = {...before.certificate, notAfter: new Date(Date.now() - MINUTE)}
    Object.assign(agent.managed[0]?.manager.current ?? {}, {certificate: expired})
    await attend(agent)
    const made = await requests()
    assert.deepEqual(made.map(({spec}) => spec.username).sort(), [
      'system:bootstrap:k3v8q1',
      'system:node:one',
    ])
    const old = parsePrivateKey(before.keyPem)
    assert.ok(!parsePrivateKey((await stored()).keyPem).equals(old))
  })

  it('goes on by itself once a person has approved the request for the old key, whichever attempt made it', async () => {
    const before = await stored()
    waiting.add(KUBELET_CLIENT)
    const expired = {...before.certificate, notAfter: new Date(Date.now() - MINUTE)}
    const openExpired = async () => {
      const agent = await open({bootstrap: () => Promise.resolve(tokenCredential(TOKEN_TEXT))})
      Object.assign(agent.managed[0]?.manager.current ?? {}, {certificate: expired})
      return agent
    }
    const approve = () => lines.filter((line) => line.includes('"trustadm certificate approve '))
    const stop = new AbortController()
    const killed = (await openExpired()).renew(stop.signal)
    await until(() => approve().length === 1)
    stop.abort()
    await assert.rejects(killed)
    const agent = await openExpired()
    const renewed = agent.renew(new AbortController().signal)
    await until(() => approve().length === 2)
    const [csr = assert.fail(), ...others] = await requests()
    assert.deepEqual(others, [])
    assert.ok(lines.every((line) => !line.includes('allow-rejoin')))
    assert.ok(approve().every((line) => line.includes(csr.metadata.name ?? assert.fail())))
    await cluster().issue(csr.metadata.name ?? '')
    await renewed
    assert.ok(parsePrivateKey((await stored()).keyPem).equals(parsePrivateKey(before.keyPem)))
  })

  it('makes another request for the old key if the first was made with another credential', async () => {
    const before = await stored()
    waiting.add(KUBELET_CLIENT)
    const expired = {...before.certificate, notAfter: new Date(Date.now() - MINUTE)}
    const attempt = async (token: string, done: () => Promise<boolean>) => {
      const agent = await open({bootstrap: () => Promise.resolve(tokenCredential(token))})
      Object.assign(agent.managed[0]?.manager.current ?? {}, {certificate: expired})
      const stop = new AbortController()
      const renewing = agent.renew(stop.signal).catch(() => undefined)
      await until(done)
      stop.abort()
      await renewing
    }
    const isMade = (count: number) => async () => (await requests()).length === count
    await attempt(TOKEN_TEXT, isMade(1))
    const other = parseToken('other1.0123456789abcdef')
    const usages = {signing: true, authentication: true}
    const groups = ['system:bootstrappers:kubeadm:default-node-token']
    const expires = new Date(Date.now() + 60 * MINUTE)
    const {admin} = cluster()
    await admin.secrets.create(toSecret({token: other, description: '', expires, usages, groups}))
    await attempt('other1.0123456789abcdef', isMade(2))
    const askers = (await requests()).map(({spec}) => spec.username).sort()
    assert.deepEqual(askers, ['system:bootstrap:k3v8q1', 'system:bootstrap:other1'])
  })

  it('uses a newer pair that a kubeconfig contains', async () => {
    const {certificate, key} = await cluster().credentialsFor('system:node:one', ['system:nodes'])
    const given = {
      certificatePem: certificate,
      keyPem: key,
      certificate: {...parseCertificate(certificate), notBefore: new Date(Date.now() - MINUTE)},
    }
    const agent = await open({given})
    assert.equal(agent.managed[0]?.manager.current, given)
    await attend(agent)
    assert.equal((await report())?.client.serial, given.certificate.serial)
  })

  it('says what to do if the certificate has expired and there is no other credential', async () => {
    const before = await serial()
    const agent = await open()
    clock.shift = 61 * MINUTE
    await assert.rejects(attend(agent), {code: 'NODE_CERTIFICATE_EXPIRED'})
    assert.equal(await serial(), before)
    assert.equal((await readAgentState(dir())).client.error?.code, 'NODE_CERTIFICATE_EXPIRED')
  })

  it('says that the clock is wrong if the certificate is not valid yet', async () => {
    const agent = await open()
    clock.shift = -61 * MINUTE
    await assert.rejects(agent.renew(never), {code: 'CLOCK_SKEWED'})
    assert.deepEqual(await requests(), [])
  })

  for (const kind of ['client', 'serving'] as const) {
    it(`reports a ${kind} certificate that is not valid yet, once, until the clock is right`, async () => {
      const agent = await open({serving: true})
      await attend(agent)
      const duty = agent.duties.filter(({name}) => name.includes(`clock by the ${kind}`))
      const stop = new AbortController()
      const running = attendAll(
        duty,
        {clock, log: (line) => lines.push(line), tick: 1},
        stop.signal,
      )
      lines.length = 0
      clock.shift = -61 * MINUTE
      assert.equal(isOverdue(await readNodeStatus(dir(), undefined, clock)), true)
      await until(() => lines.length > 0)
      clock.shift = 0
      await until(() => lines.some((line) => line.endsWith('works again')))
      stop.abort()
      await running
      const errors = lines.filter((line) => line.startsWith('error: '))
      assert.equal(errors.length, 1)
      assert.ok(errors[0]?.includes(`clock of this machine is behind: the ${kind} certificate`))
    })
  }

  describe('with a clock that is ahead', () => {
    const DAY = 24 * 60 * MINUTE
    const skewed = {code: 'CLOCK_SKEWED', message: /ahead of the server's: this machine shows /}

    it('renews once, says so, and waits, also after a restart', async () => {
      await attend(await open({serving: true}))
      const before = (await requests()).length
      const agent = await open({serving: true})
      clock.shift = 50 * MINUTE
      await attend(agent)
      const renewed = (await requests()).length
      assert.equal(renewed, before + 2)
      for (const one of [agent, await open({serving: true})]) {
        await assert.rejects(attend(one), skewed)
        const {manager} = one.managed[0] ?? assert.fail()
        assert.ok((manager.nextAttempt ?? 0) > clock.now())
      }
      assert.equal((await requests()).length, renewed)
      const warnings = lines.filter((line) => line.startsWith('warning: '))
      assert.equal(warnings.length, 1)
      assert.match(warnings[0] ?? '', /this machine is \d+ minutes ahead of the server's$/)
      const status = await readNodeStatus(dir(), undefined, clock)
      assert.ok((status.clock?.aheadSeconds ?? 0) > 49 * 60)
      assert.equal(isOverdue(status), true)

      clock.shift = 0
      await attend(agent)
      assert.equal((await requests()).length, renewed)
      assert.equal((await readNodeStatus(dir(), undefined, clock)).clock, null)
    })

    it('renews with a certificate that only seems to have expired, once', async () => {
      const agent = await open()
      clock.shift = 330 * DAY
      // At first it knows nothing of the server's clock.
      await assert.rejects(attend(agent), {code: 'NODE_CERTIFICATE_EXPIRED'})
      for (let times = 0; times < 3; times += 1) {
        clock.shift += MINUTE
        await attend(agent).catch(() => undefined)
      }
      const made = await requests()
      assert.deepEqual(
        made.map(({spec}) => spec.username),
        ['system:node:one'],
      )
      assert.equal((await report())?.client.serial, await serial())
    })
  })

  it('ends a single run with the wrong clock, and asks for nothing', async () => {
    const agent = await open()
    clock.shift = -61 * MINUTE
    await assert.rejects(attend(agent), {code: 'CLOCK_SKEWED'})
    assert.deepEqual(await requests(), [])
  })

  it('follows new CAs in all three files, and on its connection', async () => {
    const agent = await open()
    await attend(agent)
    const both = await twoAuthorities()
    await publish(both)
    agent.lookAgain()
    await attend(agent)
    const read = (file: 'ca' | 'clusterInfo' | 'kubeconfig') =>
      readFile(nodeFile(dir(), file), 'utf8')
    assert.equal(await read('ca'), both)
    const encoded = Buffer.from(both).toString('base64')
    assert.ok((await read('clusterInfo')).includes(encoded))
    assert.ok((await read('kubeconfig')).includes(encoded))
    assert.deepEqual((await report())?.trusts, parseBundle(both).map(pinOf))
    assert.equal((await agent.connection.client.nodes.get('one')).metadata.name, 'one')
  })

  it('refuses CAs that would cut it off', async () => {
    const agent = await open()
    await attend(agent)
    const before = await readFile(nodeFile(dir(), 'kubeconfig'), 'utf8')
    await publish((await makeAuthority('other')).pem)
    agent.lookAgain()
    await assert.rejects(attend(agent), {code: 'SERVER_NOT_TRUSTED'})
    assert.equal(await readFile(nodeFile(dir(), 'kubeconfig'), 'utf8'), before)
    assert.equal(await readFile(nodeFile(dir(), 'ca'), 'utf8'), cluster().ca)
  })

  it('reads cluster-info again after 5 to 10 minutes', async () => {
    const agent = await open()
    await attend(agent)
    const readAt = async () => (await readAgentState(dir())).clusterInfo.readAt
    const first = await readAt()
    clock.shift = 7 * MINUTE
    await attend(agent)
    assert.equal(await readAt(), first)
    clock.shift = 8 * MINUTE
    await attend(agent)
    assert.notEqual(await readAt(), first)
  })

  it('waits no longer to read cluster-info, its Node and its record because the clock was set back', async () => {
    const agent = await open({serving: true})
    await attend(agent)
    clock.shift = -365 * 24 * 60 * MINUTE
    const waiting = agent.duties.filter(({name}) => name.startsWith('reading'))
    const due = () =>
      waiting.filter(({nextAt}) => (nextAt() ?? Infinity) <= clock.now()).map(({name}) => name)
    assert.deepEqual(due(), [])
    clock.shift += 10 * MINUTE
    assert.deepEqual(
      due(),
      waiting.map(({name}) => name),
    )
    assert.equal(waiting.length, 3)
  })

  it('writes again what a killed run has left out', async () => {
    const path = nodeFile(dir(), 'kubeconfig')
    const before = await readFile(path, 'utf8')
    await writeFile(path, before.replace('current-context', 'x'))
    await rm(nodeFile(dir(), 'ca'))
    await open()
    assert.equal(await readFile(path, 'utf8'), before)
    assert.equal(await readFile(nodeFile(dir(), 'ca'), 'utf8'), cluster().ca)
  })

  describe('with a serving certificate', () => {
    const serving = async () => (await servingStore(await home()).read())?.certificate
    const register = (addresses: {type: string; address: string}[]) =>
      cluster().admin.nodes.patch(
        'one',
        {status: {addresses}},
        {type: 'merge', subresource: 'status'},
      )

    it('gets it for the names and addresses of its Node', async () => {
      await attend(await open({serving: true}))
      const certificate = await serving()
      assert.equal(certificate?.subject.commonName, 'system:node:one')
      assert.deepEqual([certificate.names.dns, certificate.names.ips], [['one'], ['127.0.0.1']])
      assert.deepEqual(certificate.extendedKeyUsages, ['server auth'])
      assert.ok((await report())?.serving)
    })

    it("keeps it in the kubelet's file, with its key, for its owner only", async () => {
      await attend(await open({serving: true}))
      const file = join((await home()).certDir, 'kubelet-server-current.pem')
      const text = await readFile(file, 'utf8')
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      const certificate = parseCertificate(text)
      assert.equal(certificate.serial, (await serving())?.serial)
      const publicKey = createPublicKey(parsePrivateKey(text))
      const der = publicKey.export({type: 'spki', format: 'der'})
      assert.ok(der.equals(certificate.publicKeyDer))
    })

    it('renews it when those change', async () => {
      const agent = await open({serving: true})
      await attend(agent)
      await register([
        {type: 'InternalIP', address: '192.0.2.7'},
        {type: 'Hostname', address: 'One.example'},
      ])
      clock.shift = 11 * MINUTE
      await attend(agent)
      const {names} = (await serving()) ?? {}
      assert.deepEqual([names?.dns, names?.ips], [['one.example'], ['192.0.2.7']])
    })

    it('asks for none while the Node has no address', async () => {
      await register([])
      await attend(await open({serving: true}))
      assert.equal(await serving(), undefined)
    })
  })

  describe('with a command for changes', () => {
    const log = () => `${dir()}.changes`
    const onChange = () => `printf '%s\\n' "$TRUSTADM_CHANGED" >> ${log()}`
    const changes = async () =>
      (await readFile(log(), 'utf8').catch(() => '')).split('\n').slice(0, -1)

    it('runs nothing at its first start', async () => {
      await attend(await open({onChange: onChange()}))
      assert.deepEqual(await changes(), [])
    })

    it('runs it after a new certificate, once', async () => {
      const agent = await open({onChange: onChange()})
      await agent.renew(never)
      await attend(agent)
      assert.deepEqual(await changes(), ['client-certificate'])
      await attend(agent)
      assert.deepEqual(await changes(), ['client-certificate'])
    })

    it('runs it after new CAs', async () => {
      const agent = await open({onChange: onChange()})
      await publish(await twoAuthorities())
      await attend(agent)
      assert.deepEqual(await changes(), ['ca-bundle'])
    })

    it('runs it for a change that a killed agent did not tell', async () => {
      const killed = await open({onChange: onChange()})
      await killed.renew(never)
      await attend(await open({onChange: onChange()}))
      assert.deepEqual(await changes(), ['client-certificate'])
    })

    it('runs it again until it succeeds', async () => {
      const agent = await open({onChange: `${onChange()}; test -e ${log()}.good`})
      await agent.renew(never)
      await assert.rejects(attend(agent), {code: 'ON_CHANGE_FAILED'})
      await writeFile(`${log()}.good`, '')
      agent.lookAgain()
      await attend(agent)
      await attend(agent)
      assert.deepEqual(await changes(), ['client-certificate', 'client-certificate'])
    })

    it('waits no longer to run it again because the clock was set back', async () => {
      const agent = await open({onChange: 'false'})
      await agent.renew(never)
      await assert.rejects(attend(agent), {code: 'ON_CHANGE_FAILED'})
      clock.shift = -365 * 24 * 60 * MINUTE
      const command = agent.duties.find(({name}) => name.includes('--on-change'))
      assert.ok((command?.nextAt() ?? 0) > clock.now())
      clock.shift += MINUTE
      assert.ok((command?.nextAt() ?? Infinity) <= clock.now())
    })
  })

  it('renews when another command asks for it', async () => {
    const before = await serial()
    const agent = await open()
    const asked = requestRenewal(dir(), () => Promise.resolve(true))
    while ((await serial()) === before) await attend(agent)
    assert.equal(await asked, true)
  })

  it('gets no request from a command that found no agent', async () => {
    const before = await serial()
    assert.equal(await requestRenewal(dir(), () => Promise.resolve(false)), false)
    await attend(await open())
    assert.equal(await serial(), before)
  })

  it('tells who has to approve a request, with the pairing words', async () => {
    const agent = await open()
    const [csr] = (await cluster().admin.csrs.list()).items
    assert.ok(csr)
    agent.managed[0]?.onPending(csr)
    const words = await requestWords(csr, cluster().ca)
    const name = csr.metadata.name ?? ''
    await until(async () => (await readAgentState(dir())).client.pendingRequest === name)
    assert.ok(lines.some((line) => line.includes(`trustadm certificate approve ${name}`)))
    assert.ok(lines.some((line) => line.endsWith(`pairing words: ${words}`)))
  })

  it('leaves what "node status" shows', async () => {
    const status = () => readNodeStatus(dir(), undefined, clock)
    const fresh = await status()
    assert.equal(isOverdue(fresh), false)
    assert.deepEqual([fresh.nodeName, fresh.agent], ['one', null])
    clock.shift = 50 * MINUTE
    assert.equal(isOverdue(await status()), true)
    await attend(await open())
    const [client] = (await status()).certificates
    assert.equal(client?.serial, await serial())
    assert.deepEqual([client.lastRenewal, client.lastError], [client.lastAttempt, null])
    clock.shift = 61 * MINUTE
    const [expired] = (await status()).certificates
    assert.equal(expired?.state, 'expired')
    assert.ok(expired.residualSeconds < 0)
  })
})
