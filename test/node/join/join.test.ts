import assert from 'node:assert/strict'
import {subscribe, unsubscribe} from 'node:diagnostics_channel'
import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import {join} from 'node:path'
import {describeToken} from '../../../src/bootstrap/token-info.ts'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {formatToken} from '../../../src/bootstrap/token.ts'
import {systemClock} from '../../../src/runtime.ts'
import {connect} from '../../../src/client/connect.ts'
import {requestedCertificate} from '../../../src/csr/requested-certificate.ts'
import {parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import type {TrustError} from '../../../src/errors.ts'
import {lockFolder} from '../../../src/fs/folder-lock.ts'
import {readClusterInfo} from '../../../src/node/cluster-info-store.ts'
import {describeNode} from '../../../src/node/describe-node.ts'
import {JOIN_PHASES, joinPhases, planJoin, runJoin} from '../../../src/node/join/join.ts'
import type {JoinSettings} from '../../../src/node/join/phase.ts'
import {JOIN_PHASE_NAMES} from '../../../src/node/join/names.ts'
import {whoAmI} from '../../../src/node/acceptance.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {issueLeaf} from '../../../src/pki/issuer.ts'
import {generateKeys, parsePrivateKey, publicHalf} from '../../../src/pki/keys.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {joinRequest, startJoinableCluster, TOKEN, TOKEN_TEXT, useFolder} from '../support.ts'
import type {JoinableCluster} from '../support.ts'

const modeOf = async (path: string) => (await stat(path)).mode & 0o777
const HOUR = 3_600_000

describe('join', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const dir = () => join(folder(), 'node')
  let cluster: JoinableCluster
  let stopIssuing: (() => Promise<void>) | undefined
  beforeEach(async () => {
    cluster = await startJoinableCluster()
  })
  afterEach(async () => {
    await stopIssuing?.()
    stopIssuing = undefined
    await cluster.stop()
  })
  const issueAll = () => (stopIssuing = cluster.issueAll().stop)
  const settings = (more: Partial<JoinSettings> = {}) => cluster.settings(dir(), 'one', more)
  const run = async (more: Partial<JoinSettings> = {}) => {
    const request = joinRequest(settings(more))
    await runJoin(request, joinPhases())
    return request.lines
  }
  /** A run that is expected to fail. */
  const failing = (more: Partial<JoinSettings> = {}): Promise<TrustError> =>
    run(more).then(
      () => assert.fail('it did not'),
      (error: unknown) => error as TrustError,
    )
  const requests = async () => (await cluster.admin.csrs.list()).items

  it('leaves a kubeconfig by which the server knows the node, and registers it', async () => {
    issueAll()
    await run()
    const client = await connect(join(dir(), 'kubelet.conf'))
    assert.equal(await whoAmI(client), 'system:node:one')
    await client.close()
    const node = await cluster.admin.nodes.get('one')
    assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'one')
    assert.deepEqual(node.status?.addresses, [
      {type: 'InternalIP', address: '127.0.0.1'},
      {type: 'Hostname', address: 'one'},
    ])
    assert.ok(node.status.nodeInfo?.kernelVersion)
  })

  it('makes two connections: one that is verified later, and one with its own certificate', async () => {
    issueAll()
    let count = 0
    const connected = () => {
      count++
    }
    subscribe('undici:client:connected', connected)
    await run().finally(() => unsubscribe('undici:client:connected', connected))
    assert.equal(count, 2)
  })

  it('asks as the kubelet does, with the token', async () => {
    issueAll()
    await run()
    const [csr] = await requests()
    assert.match(csr?.metadata.name ?? '', /^node-csr-[A-Za-z0-9_-]{43}$/)
    assert.equal(csr?.spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet')
    assert.deepEqual(csr.spec.usages, ['digital signature', 'client auth'])
    assert.equal(csr.spec.username, 'system:bootstrap:k3v8q1')
  })

  it('keeps secrets for its owner only, the pair behind a link, and no token anywhere', async () => {
    issueAll()
    await run()
    const pki = join(dir(), 'pki')
    assert.deepEqual(
      (await readdir(pki)).map((name) => name.replace(/\d/g, '0')),
      ['ca.crt', 'kubelet-client-0000-00-00-00-00-00.pem', 'kubelet-client-current.pem'],
    )
    const target = await readlink(join(pki, 'kubelet-client-current.pem'))
    assert.match(target, /^kubelet-client-[\d-]{19}\.pem$/)
    assert.equal(await modeOf(join(pki, target)), 0o600)
    assert.equal(await modeOf(join(dir(), 'kubelet.conf')), 0o600)
    assert.equal(await modeOf(dir()), 0o700)
    assert.equal(await modeOf(pki), 0o700)
    for (const path of ['kubelet.conf', 'cluster-info.yaml', join('pki', target)]) {
      assert.doesNotMatch(await readFile(join(dir(), path), 'utf8'), /u7zq2m9x4c6b1n8w/)
    }
  })

  it('keeps the modes under a hostile umask', async () => {
    issueAll()
    const before = process.umask(0)
    try {
      await run()
    } finally {
      process.umask(before)
    }
    assert.equal(await modeOf(dir()), 0o700)
    assert.equal(await modeOf(join(dir(), 'pki', 'kubelet-client-current.pem')), 0o600)
    assert.equal(await modeOf(join(dir(), 'kubelet.conf')), 0o600)
  })

  it('changes nothing when it is run again, and says that the certificate is kept', async () => {
    issueAll()
    await run()
    const snapshot = async () => {
      const paths = (await readdir(dir(), {recursive: true})).filter(
        (name) => !name.includes('lock'),
      )
      return Promise.all(
        paths.map(async (name) => [name, (await lstat(join(dir(), name))).ino] as const),
      )
    }
    const before = await snapshot()
    const lines = await run()
    assert.deepEqual(await snapshot(), before)
    assert.match(lines.join('\n'), /the certificate is kept: it is valid until/)
    assert.equal((await requests()).length, 1)
  })

  it('needs no token where the certificate is there already', async () => {
    issueAll()
    await run()
    await writeFile(join(folder(), 'info.yaml'), await readFile(join(dir(), 'cluster-info.yaml')))
    await run({discovery: {file: join(folder(), 'info.yaml')}, token: undefined})
  })

  it('asks for a new certificate when the old one has expired, and keeps the old file', async () => {
    issueAll()
    await run()
    const request = joinRequest(settings())
    const later = {now: () => new Date(Date.now() + 2 * HOUR)}
    const file = await readlink(join(dir(), 'pki', 'kubelet-client-current.pem'))
    await runJoin({...request, clock: later}, joinPhases()).catch((error: unknown) => {
      // The test's signer lives in the present: what it issues is over for this machine.
      assert.match(String(error), /has expired already/)
    })
    assert.equal((await requests()).length, 2)
    assert.ok((await readdir(join(dir(), 'pki'))).includes(file))
  })

  it('remembers the further addresses, here and in kubelet.conf', async () => {
    issueAll()
    const endpoints = [cluster.endpoint, 'localhost:1']
    const {discovery} = settings()
    await run({discovery: {...discovery, endpoints}})
    assert.deepEqual((await readClusterInfo(dir()))?.endpoints, ['https://localhost:1'])
    const text = await readFile(join(dir(), 'kubelet.conf'), 'utf8')
    assert.deepEqual(parseKubeconfig(text).clusters[0]?.cluster.extensions, [
      {name: 'trustadm.io/endpoints', extension: {endpoints: ['https://localhost:1']}},
    ])
  })

  it('passes the warning of an unpinned CA on', async () => {
    issueAll()
    const {discovery} = settings()
    const lines = await run({
      discovery: {...discovery, caCertHashes: [], unsafeSkipCaVerification: true},
    })
    assert.ok(lines.some((line) => line.includes(`--discovery-token-ca-cert-hash ${cluster.pin}`)))
  })

  it('tells what there is of the node', async () => {
    issueAll()
    await run()
    const result = await describeNode({dir: dir(), nodeName: 'one'})
    assert.equal(result.certificate, join(dir(), 'pki', 'kubelet-client-current.pem'))
    assert.equal(result.kubeconfig, join(dir(), 'kubelet.conf'))
    assert.equal(result.clusterInfo?.server, cluster.url)
    assert.deepEqual(result.clusterInfo.caCertHashes, [cluster.pin])
    const pem = await readFile(result.certificate, 'utf8')
    assert.equal(Date.parse(result.notAfter ?? ''), parseCertificate(pem).notAfter.getTime())
  })

  it('names what a kubelet starts from while there is no certificate, whatever else is there', async () => {
    await runJoin(joinRequest(settings()), joinPhases({forKubelet: true}))
    await writeFile(join(dir(), 'kubelet.conf'), '', {mode: 0o600})
    const {kubeconfig} = await describeNode({dir: dir(), nodeName: 'one'})
    assert.equal(kubeconfig, join(dir(), 'bootstrap-kubelet.conf'))
  })

  describe('the decision', () => {
    it('tells a denial, with its reason, and asks anew the next time', async () => {
      const first = failing()
      await cluster.deny(await cluster.firstRequest(), 'Unknown', 'nobody knows this machine')
      const error = await first
      assert.equal(error.code, 'CERTIFICATE_DENIED')
      assert.match(error.message, /Unknown: nobody knows this machine/)
      issueAll()
      await run()
      assert.equal((await requests()).length, 2)
    })

    it('tells a failure of the signer, with its reason', async () => {
      const first = failing()
      const name = await cluster.firstRequest()
      await cluster.approve(name)
      await cluster.fail(name, 'SignerValidationFailure', 'no such usage')
      const error = await first
      assert.equal(error.code, 'CERTIFICATE_FAILED')
      assert.match(error.message, /SignerValidationFailure: no such usage/)
    })

    it('tells that nobody has approved it, and goes on with the same request the next time', async () => {
      const error = await failing({certificateTimeout: 100})
      assert.equal(error.code, 'CERTIFICATE_PENDING')
      const [csr] = await requests()
      const name = csr?.metadata.name ?? ''
      assert.match(error.suggestions.join('\n'), new RegExp(`trustadm certificate approve ${name}`))
      await cluster.issue(name)
      const lines = await run()
      assert.match(lines.join('\n'), /resuming with the certificate request \S+ of an earlier run/)
      assert.equal((await requests()).length, 1)
    })

    it('says that its token ended while the request waited, and resumes with another', async () => {
      const first = failing()
      await cluster.firstRequest()
      const {secrets} = cluster.admin
      const other = {id: 'abcdef', secret: '0123456789abcdef'}
      await secrets.create(toSecret(describeToken(other, {}, systemClock.now())))
      await secrets.delete(`kube-system/bootstrap-token-${TOKEN.id}`)
      const {code, suggestions} = await first
      assert.equal(code, 'UNAUTHORIZED')
      assert.match(suggestions[0] ?? '', /trustadm token create --print-join-command/)
      assert.match(suggestions[1] ?? '', /run this command again with it: it resumes/)
      assert.equal(suggestions.length, 2)
      await cluster.publish({server: cluster.url, ca: cluster.ca})
      const [csr] = await requests()
      await cluster.issue(csr?.metadata.name ?? '')
      const lines = await run({token: formatToken(other)})
      assert.match(lines.join('\n'), /resuming with the certificate request/)
    })

    it('asks again with the same key if the token that its request waits with was replaced', async () => {
      assert.equal((await failing({certificateTimeout: 100})).code, 'CERTIFICATE_PENDING')
      const {secrets} = cluster.admin
      const other = {id: 'abcdef', secret: '0123456789abcdef'}
      await secrets.create(toSecret(describeToken(other, {}, systemClock.now())))
      await secrets.delete(`kube-system/bootstrap-token-${TOKEN.id}`)
      await cluster.publish({server: cluster.url, ca: cluster.ca})
      const [first] = await requests()
      // As the approver, which never approves the request of a token that is gone.
      const issuing = cluster.issueAll(({spec}) => spec.username !== first?.spec.username)
      try {
        const lines = await run({token: formatToken(other)})
        assert.match(lines.join('\n'), /waits, and was made with another credential/)
      } finally {
        await issuing.stop()
      }
      const keys = (await requests()).map((csr) => requestedCertificate(csr)?.pin)
      assert.equal(keys.length, 2)
      assert.deepEqual(keys[0], keys[1])
    })

    it('says once what it waits for, with the command to run', async () => {
      const request = joinRequest(settings())
      const done = runJoin(request, joinPhases())
      const name = await cluster.firstRequest()
      const isSaid = () => request.lines.filter((line) => line.startsWith('waiting for approval'))
      while (isSaid().length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
      await cluster.issue(name)
      await done
      assert.equal(isSaid().length, 1)
      assert.ok(!request.lines.some((line) => line.includes('no response')))
      assert.match(isSaid().join(), new RegExp(`trustadm certificate approve ${name}`))
    })

    it('says that nobody has signed what was approved', async () => {
      const first = failing({certificateTimeout: 1000})
      await cluster.approve(await cluster.firstRequest())
      const error = await first
      assert.equal(error.code, 'CERTIFICATE_PENDING')
      assert.match(error.message, /is approved, but not signed yet/)
    })

    it('asks with another key where the certificate of the earlier request has expired', async () => {
      await failing({certificateTimeout: 50})
      const [csr] = await requests()
      const {privateKey: _, ...keys} = await generateKeys()
      const past = {
        notBefore: new Date(Date.now() - 2 * HOUR),
        notAfter: new Date(Date.now() - HOUR),
      }
      const expired = await issueLeaf(cluster.issuer, {
        subject: {commonName: 'system:node:one', organizations: ['system:nodes']},
        names: NO_NAMES,
        publicKey: keys.publicKey,
        usages: ['digital signature', 'client auth'],
        validity: past,
      })
      await cluster.issue(csr?.metadata.name ?? '', expired)
      issueAll()
      const lines = await run()
      assert.match(lines.join('\n'), /has expired: requesting a new one/)
      assert.equal((await requests()).length, 2)
    })

    it('goes on when its request vanishes', async () => {
      const first = failing()
      await cluster.admin.csrs.delete(await cluster.firstRequest())
      assert.equal((await first).code, 'CERTIFICATE_REQUEST_DELETED')
      issueAll()
      await run()
    })

    it('refuses a request of that name that is not its own', async () => {
      await failing({certificateTimeout: 50})
      const [csr] = await requests()
      assert.ok(csr)
      await cluster.admin.csrs.delete(csr.metadata.name ?? '')
      const {metadata, ...other} = csr
      await cluster.admin.csrs.create({
        ...other,
        metadata: {name: metadata.name ?? ''},
        spec: {...csr.spec, signerName: 'kubernetes.io/kube-apiserver-client'},
      })
      assert.equal((await failing()).code, 'ALREADY_EXISTS')
    })

    const foreign = async (commonName: string, organizations: string[], own: boolean) => {
      await failing({certificateTimeout: 50})
      const [csr] = await requests()
      const key = await readFile(join(dir(), 'pki', 'kubelet-client.key.tmp'), 'utf8')
      const publicKey = own ? publicHalf(parsePrivateKey(key)) : (await generateKeys()).publicKey
      const now = Date.now()
      const pem = await issueLeaf(cluster.issuer, {
        subject: {commonName, organizations},
        names: NO_NAMES,
        publicKey,
        usages: ['digital signature', 'client auth'],
        validity: {notBefore: new Date(now - HOUR), notAfter: new Date(now + HOUR)},
      })
      await cluster.issue(csr?.metadata.name ?? '', pem)
      const error = await failing()
      assert.equal(error.code, 'CERTIFICATE_INVALID')
      assert.deepEqual(await readdir(join(dir(), 'pki')), ['ca.crt'])
      return error.message
    }

    it('keeps nothing of a certificate for another key', async () => {
      assert.match(await foreign('system:node:one', ['system:nodes'], false), /another key/)
    })

    it('keeps nothing of a certificate for another name', async () => {
      assert.match(await foreign('system:node:two', ['system:nodes'], true), /another name/)
    })

    it('keeps nothing of a certificate with further groups', async () => {
      const groups = ['system:nodes', 'system:masters']
      assert.match(await foreign('system:node:one', groups, true), /another name/)
    })
  })

  describe('names that are in use', () => {
    const node = (status: 'True' | 'False' | 'Unknown') =>
      cluster.admin.nodes.create({
        metadata: {name: 'one'},
        status: {conditions: [{type: 'Ready', status}]},
      })

    it('are refused where the Node is Ready, before anything is asked for', async () => {
      await node('True')
      const error = await failing()
      assert.equal(error.code, 'NODE_EXISTS')
      assert.match(error.suggestions.join('\n'), /--node-name/)
      assert.deepEqual(await requests(), [])
    })

    for (const status of ['False', 'Unknown'] as const) {
      it(`are asked for where the Node is not Ready (${status}), with the way to get it`, async () => {
        await node(status)
        const request = joinRequest(settings())
        const done = runJoin(request, joinPhases())
        const name = await cluster.firstRequest()
        const isSaid = () => request.lines.some((line) => line.includes('allow-rejoin one'))
        while (!isSaid()) await new Promise((resolve) => setTimeout(resolve, 20))
        await cluster.issue(name)
        await done
        assert.ok(request.lines.some((line) => line.includes('its addresses were updated')))
      })
    }
  })

  describe('credentials', () => {
    it('that the server does not know lead to a hint', async () => {
      const error = await failing({token: 'zzzzzz.u7zq2m9x4c6b1n8w'})
      assert.equal(error.code, 'UNAUTHORIZED')
      assert.match(error.suggestions.join('\n'), /trustadm token list/)
      assert.doesNotMatch(JSON.stringify(error), /u7zq2m9x4c6b1n8w/)
    })

    it('that are missing are asked for before anything else', async () => {
      const error = await failing({token: undefined})
      assert.equal(error.code, 'USAGE')
      assert.deepEqual(await readdir(folder()), [])
    })
  })

  describe('folders', () => {
    it('stay untouched where the server cannot be trusted', async () => {
      const {discovery} = settings()
      const wrong = {...discovery, caCertHashes: [`sha256:${'0'.repeat(64)}`]}
      assert.equal((await failing({discovery: wrong})).code, 'PIN_MISMATCH')
      assert.deepEqual(await readdir(folder()), [])
    })

    it('of a control plane are refused', async () => {
      await mkdir(dir())
      await writeFile(join(dir(), 'config.yaml'), '')
      const ignoredChecks = ['all']
      assert.equal((await failing({ignoredChecks})).code, 'CONFLICT')
      assert.deepEqual(await readdir(dir()), ['config.yaml'])
    })

    it('of a node of another cluster are refused, and stay as they are', async () => {
      issueAll()
      await run()
      const other = await startJoinableCluster()
      try {
        const before = await readFile(join(dir(), 'pki', 'ca.crt'), 'utf8')
        const request = joinRequest(other.settings(dir(), 'one'))
        await assert.rejects(runJoin(request, joinPhases()), {code: 'CONFLICT'})
        assert.equal(await readFile(join(dir(), 'pki', 'ca.crt'), 'utf8'), before)
      } finally {
        await other.stop()
      }
    })

    it('of another node are refused', async () => {
      issueAll()
      await run()
      const request = joinRequest(cluster.settings(dir(), 'two'))
      await assert.rejects(runJoin(request, joinPhases()), {code: 'CONFLICT'})
    })

    it('with something planted in the place of a file are refused before anything is asked for', async () => {
      const victim = join(folder(), 'victim')
      await writeFile(victim, 'mine')
      const paths = [
        'kubelet.conf',
        'bootstrap-kubelet.conf',
        'cluster-info.yaml',
        'pki/ca.crt',
        'pki/kubelet-client.key.tmp',
      ]
      for (const path of paths) {
        await mkdir(join(dir(), 'pki'), {recursive: true, mode: 0o700})
        await symlink(victim, join(dir(), path))
        const error = await failing()
        assert.equal(error.code, 'FILE_UNSAFE', path)
        assert.match(error.message, new RegExp(`${path} is not safe`))
        await rm(dir(), {recursive: true})
      }
      assert.equal(await readFile(victim, 'utf8'), 'mine')
      assert.deepEqual(await requests(), [])
    })

    it('that a file stands in the way of are told so', async () => {
      await writeFile(dir(), '')
      const error = await failing()
      assert.equal(error.code, 'FILE_UNREADABLE')
      assert.match(error.message, /a part of its path is not a folder$/)
    })

    it('with a file in place of the CA are refused, and the file is named', async () => {
      await mkdir(join(dir(), 'pki'), {recursive: true, mode: 0o700})
      await writeFile(join(dir(), 'pki', 'ca.crt'), 'junk')
      const error = await failing()
      assert.equal(error.code, 'CERTIFICATE_INVALID')
      assert.match(error.message, /pki\/ca\.crt does not contain the CA of a cluster$/)
    })

    it('whose kubeconfigs others can read are put right', async () => {
      await runJoin(joinRequest(settings()), joinPhases({forKubelet: true}))
      const path = join(dir(), 'bootstrap-kubelet.conf')
      await chmod(path, 0o666)
      await runJoin(joinRequest(settings()), joinPhases({forKubelet: true}))
      assert.equal(await modeOf(path), 0o600)
    })

    it('that another process keeps are waited for as long as --timeout says', async () => {
      issueAll()
      await mkdir(join(dir(), 'lock'), {recursive: true, mode: 0o700})
      const release = await lockFolder(join(dir(), 'lock'))
      try {
        await assert.rejects(run({certificateTimeout: 1}), {code: 'CONFLICT'})
        assert.deepEqual(await requests(), [])
      } finally {
        await release()
      }
      await run({certificateTimeout: 60_000})
    })

    it('are changed by one run at a time', async () => {
      issueAll()
      await Promise.all([run(), run(), run()])
      assert.equal((await requests()).length, 1)
    })
  })

  describe('phases', () => {
    it('can each be run alone on what the ones before have left', async () => {
      issueAll()
      for (const {name} of joinPhases()) {
        await runJoin(joinRequest(settings()), [JOIN_PHASES[name]])
      }
      assert.equal((await cluster.admin.nodes.get('one')).metadata.name, 'one')
    })

    it('name the one that is missing before them', async () => {
      const missing = (name: (typeof JOIN_PHASE_NAMES)[number]) =>
        assert.rejects(runJoin(joinRequest(settings()), [JOIN_PHASES[name]]), {
          code: 'NOT_FOUND',
        })
      await missing('tls-bootstrap')
      await missing('register-node')
      await missing('cleanup')
    })

    it('write bootstrap-kubelet.conf for a kubelet, and delete it once the node has its own', async () => {
      await runJoin(joinRequest(settings()), joinPhases({forKubelet: true}))
      const path = join(dir(), 'bootstrap-kubelet.conf')
      assert.equal(await modeOf(path), 0o600)
      const client = await connect(path)
      assert.equal(await whoAmI(client), 'system:bootstrap:k3v8q1')
      await client.close()
      assert.deepEqual(await requests(), [])
      issueAll()
      await run()
      await assert.rejects(stat(path), {code: 'ENOENT'})
    })

    it('only plan in a dry run', async () => {
      const {changes} = await planJoin(joinRequest(settings()), joinPhases())
      assert.deepEqual(
        [...new Set(changes.map(({phase}) => phase))],
        ['discovery', 'tls-bootstrap', 'kubeconfig', 'register-node'],
      )
      assert.deepEqual(await readdir(folder()), [])
      assert.deepEqual(await requests(), [])
      assert.ok(!JSON.stringify(changes).includes(TOKEN_TEXT))
    })
  })
})
