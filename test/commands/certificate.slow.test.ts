import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {findCondition, stateOf} from '../../src/csr/conditions.ts'
import {KUBELET_CLIENT, KUBELET_SERVING} from '../../src/csr/signers.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {chooseWaiting} from '../../src/cli/requests/choose-waiting.ts'
import {waitingFor} from '../../src/control-plane/requests/rejoin-candidates.ts'
import {saveIssued} from '../../src/controllers/approval/record-store.ts'
import {systemClock} from '../../src/runtime.ts'
import {run} from '../cli/program.ts'
import {readable} from '../controllers/approval/support.ts'
import {
  addCondition,
  makeRequest,
  setCertificate,
  signRequest,
} from '../control-plane/requests/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const openssl = promisify(execFile)

interface Listed {
  requests: {name: string; state: string; request: unknown}[]
}

describe('certificate', function () {
  this.timeout(20_000)
  let server: TestServer
  let admin: ApiClient
  let folder = ''
  let kubeconfig = ''
  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    folder = await mkdtemp(join(tmpdir(), 'trustadm-certificate-'))
    kubeconfig = await file('admin.conf', await server.kubeconfigFor('admin', ['system:masters']))
  })
  after(async () => {
    await server.stop()
    await rm(folder, {recursive: true, force: true})
  })
  afterEach(() => admin.csrs.deleteCollection({}))

  const file = async (name: string, content: string) => {
    const path = join(folder, name)
    await writeFile(path, content, {mode: 0o600})
    return path
  }
  let places = 0
  const newFolder = async () => {
    const path = join(folder, `out-${(places += 1)}`)
    await mkdir(path)
    return path
  }
  const certificate = (command: string, ...more: string[]) =>
    run('certificate', command, '--kubeconfig', kubeconfig, ...more)
  const names = async (...filters: string[]) => {
    const {stdout, stderr} = await certificate('list', '--output', 'name', ...filters)
    assert.equal(stderr, '')
    return stdout.split('\n').filter(Boolean)
  }
  const stateOfRequest = async (name: string) => stateOf(await admin.csrs.get({name}))
  const conditionOf = async (name: string, type: string) =>
    findCondition(await admin.csrs.get({name}), type)

  describe('list', () => {
    it('prints its columns, also where there is nothing', async () => {
      const {stdout, stderr} = await certificate('list')
      assert.match(stdout, /^NAME +AGE +SIGNER +REQUESTER +SUBJECT +DURATION +STATE\n$/)
      assert.equal(stderr, 'no certificate requests found\n')
    })

    it('says nothing besides to a script where there is nothing', async () => {
      const {stdout, stderr} = await certificate('list', '--output', 'json')
      assert.deepEqual(JSON.parse(stdout), {requests: []})
      assert.equal(stderr, '')
    })

    it('prints a row a request, the oldest first', async () => {
      await makeRequest(admin, {name: 'b', seconds: 3600})
      await makeRequest(admin, {name: 'a'})
      const {stdout} = await certificate('list')
      const rows = stdout.split('\n')
      assert.match(
        rows.find((row) => row.startsWith('b')) ?? '',
        /^b +\d+s +kubernetes\.io\/kube-apiserver-client +admin +CN=ada +60m +Pending +[a-z]+( [a-z]+){3}$/,
      )
      assert.match(
        rows.find((row) => row.startsWith('a')) ?? '',
        / <none> +Pending +[a-z]+( [a-z]+){3}$/,
      )
    })

    it('shows with --output wide what was asked for and issued', async () => {
      const dns = {dns: ['web.example.com'], ips: ['192.0.2.7'], emails: [], uris: []}
      await makeRequest(admin, {name: 'a', organizations: ['dev'], names: dns})
      await addCondition(admin, 'a', 'Approved')
      await signRequest(admin, server.issuer, 'a')
      const {stdout} = await certificate('list', '--output', 'wide')
      assert.match(stdout, /SUBJECT +DURATION +STATE +NAMES +KEY +KEY PIN +EXPIRES\n/)
      assert.match(
        stdout,
        / CN=ada, O=dev +<none> +Issued +web\.example\.com, 192\.0\.2\.7 +ECDSA P-256 +sha256:[0-9a-f]{64} +\d{4}-.+Z\n$/,
      )
    })

    it('chooses by state, several of them too', async () => {
      for (const name of ['pending', 'approved', 'denied', 'failed', 'issued']) {
        await makeRequest(admin, {name})
      }
      for (const name of ['approved', 'failed', 'issued'])
        await addCondition(admin, name, 'Approved')
      await addCondition(admin, 'denied', 'Denied')
      await addCondition(admin, 'failed', 'Failed')
      await signRequest(admin, server.issuer, 'issued')
      for (const state of ['pending', 'approved', 'denied', 'failed', 'issued']) {
        assert.deepEqual(await names('--state', state), [state])
      }
      assert.deepEqual((await names('--state', 'pending,failed')).sort(), ['failed', 'pending'])
      const {exit} = await certificate('list', '--state', 'lost')
      assert.equal(exit, 2)
    })

    it('chooses by signer, requester, label and age', async () => {
      await makeRequest(admin, {name: 'a', labels: {team: 'web'}})
      await makeRequest(admin, {name: 'b', signer: 'example.com/other'})
      const eve = server.clientAs({...ADMIN, username: 'system:node:eve'})
      await makeRequest(eve, {name: 'c'})
      assert.deepEqual(await names('--signer', 'example.com/other'), ['b'])
      const both = ['--signer', 'example.com/other,kubernetes.io/kube-apiserver-client']
      assert.equal((await names(...both)).length, 3)
      assert.deepEqual(await names('--requester', 'system:node:*'), ['c'])
      assert.deepEqual(await names('--requester', 'nobody'), [])
      assert.deepEqual(await names('--selector', 'team=web'), ['a'])
      assert.deepEqual(await names('--older-than', '1h'), [])
      assert.equal((await names('--newer-than', '1h')).length, 3)
    })

    it('prints one JSON object with what each request asks for', async () => {
      await makeRequest(admin, {name: 'a'})
      const {stdout} = await certificate('list', '--output', 'json')
      const [first] = (JSON.parse(stdout) as Listed).requests
      assert.equal(first?.state, 'Pending')
      assert.deepEqual((first.request as {subject: unknown}).subject, {
        commonName: 'ada',
        organizations: [],
        other: [],
      })
    })

    it('says that the caller may not, and who could', async () => {
      const content = await server.kubeconfigFor('nobody', [])
      const nobody = await file('nobody.conf', content)
      for (const watch of [[], ['--watch']]) {
        const {stderr, stdout, exit} = await run(
          'certificate',
          'list',
          '--kubeconfig',
          nobody,
          ...watch,
        )
        assert.equal(exit, 4)
        assert.equal(stdout, '')
        assert.match(stderr, /cannot list resource "certificatesigningrequests"/)
        assert.match(stderr, /role that allows it on "certificatesigningrequests/)
      }
    })
  })

  describe('show', () => {
    it('shows the request, its key and who asks', async () => {
      await makeRequest(admin, {name: 'a', commonName: 'ada', organizations: ['dev', 'ops']})
      const {stdout, stderr, exit} = await certificate('show', 'a')
      assert.equal(exit, 0, stderr)
      assert.match(stdout, /^name +a\n/)
      assert.match(stdout, /state +Pending\n/)
      assert.match(stdout, /requester +admin\n/)
      assert.match(stdout, /groups +system:masters, system:authenticated\n/)
      assert.match(stdout, /subject +CN=ada, O=dev, O=ops\n/)
      assert.match(stdout, /key +ECDSA P-256\n/)
      assert.match(stdout, /key pin +sha256:[0-9a-f]{64}\n/)
      assert.match(stdout, /usages +digital signature, client auth\n/)
      assert.match(stdout, /duration +the signer.s default\n/)
    })

    it("shows each approver's rules with a tick or a cross", async () => {
      const name = 'node'
      const node = {commonName: 'system:node:w1', organizations: ['system:nodes']}
      await makeRequest(admin, {name, ...node, signer: KUBELET_CLIENT})
      const {stdout} = await certificate('show', name)
      assert.match(stdout, /selfnodeclient does not handle it: "admin" asks for "system:node:w1"/)
      assert.match(stdout, /✔ nodeclient would approve it\n/)
      assert.match(stdout, /✔ the requester may create certificatesigningrequests\/nodeclient/)
      assert.match(stdout, /Signer\n +✔ kubernetes\.io\/kube-apiserver-client-kubelet permits/)
    })

    it('says why a name that is taken is left to a person', async () => {
      await admin.nodes.create({metadata: {name: 'w2'}})
      const node = {commonName: 'system:node:w2', organizations: ['system:nodes']}
      await makeRequest(admin, {name: 'node', ...node, signer: KUBELET_CLIENT})
      const {stdout} = await certificate('show', 'node')
      assert.match(stdout, /nodeclient leaves it to a person \(NodeNameTaken\)/)
      assert.match(stdout, /✖ [^\n]+the name "w2" is taken: a Node of that name exists/)
    })

    it('says what its signer does not permit', async () => {
      await makeRequest(admin, {name: 'a', signer: KUBELET_SERVING})
      assert.match((await certificate('show', 'a')).stdout, /Signer\n +✖ the organizations are/)
    })

    it('says of a request of two PEM blocks what its signer says: it is not signed', async () => {
      const {spec} = await makeRequest(admin, {name: 'one'})
      const {request, signerName, usages = []} = spec
      const pem = Buffer.from(request, 'base64').toString()
      const twice = Buffer.from(pem + pem).toString('base64')
      await admin.csrs.create({
        metadata: {name: 'two'},
        spec: {request: twice, signerName, usages},
      })
      const {stdout} = await certificate('show', 'two')
      assert.match(stdout, /Signer\n +✖ it must be a single PEM block without headers/)
    })

    it('shows decisions, the certificate and events', async () => {
      const {metadata} = await makeRequest(admin, {name: 'a'})
      await addCondition(admin, 'a', 'Approved', {reason: 'Seen', message: 'by ada'})
      await signRequest(admin, server.issuer, 'a')
      await admin.events.create({
        metadata: {name: 'a.1', namespace: 'default'},
        involvedObject: {
          kind: 'CertificateSigningRequest',
          name: 'a',
          ...(metadata.uid !== undefined && {uid: metadata.uid}),
        },
        type: 'Warning',
        reason: 'Looked',
        message: 'at it',
      })
      const {stdout} = await certificate('show', 'a')
      assert.match(stdout, /✔ Approved \d+s ago \([^)]+\): Seen: by ada\n/)
      assert.match(stdout, /issuer +CN=kubernetes\n/)
      assert.match(stdout, /serial +[0-9a-f]+\n/)
      assert.match(stdout, /SHA-256 +[0-9a-f]{64}\n/)
      assert.match(stdout, /! \d+s ago Looked: at it/)
    })

    it('shows what a hostile requester chose without letting it act on the terminal', async () => {
      const commonName = 'ada, O=system:masters\u001B[2J\u202Eevil\nname'
      await makeRequest(admin, {name: 'a', commonName, organizations: ['n\u043Ede']})
      for (const [command, ...more] of [
        ['show', 'a'],
        ['list', '--output', 'wide'],
      ] as const) {
        const {stdout} = await certificate(command, ...more)
        assert.ok(stdout.includes(String.raw`CN="ada, O=system:masters\u{1b}[2J\u{202e}evil`))
        assert.ok(stdout.includes('O="n\u043Ede" (with U+043E)'))
        // eslint-disable-next-line no-control-regex -- that there is none is what is tested
        assert.doesNotMatch(stdout, /[\u001B\u202E]/)
      }
    })

    it('fails for a request that is not there, and says where to look', async () => {
      const {stderr, exit} = await certificate('show', 'absent')
      assert.equal(exit, 1)
      assert.match(stderr, /there is no certificate request "absent"\n.*certificate list/)
    })

    it('shows what the caller may see where the rest is forbidden', async () => {
      await makeRequest(admin, {name: 'a'})
      await admin.clusterRoles.create({
        metadata: {name: 'looker'},
        rules: [
          {
            apiGroups: ['certificates.k8s.io'],
            resources: ['certificatesigningrequests'],
            verbs: ['get', 'list'],
          },
        ],
      })
      await admin.clusterRoleBindings.create({
        metadata: {name: 'looker'},
        roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'looker'},
        subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'looker'}],
      })
      const looker = await file('looker.conf', await server.kubeconfigFor('looker', []))
      const {stdout, exit} = await run('certificate', 'show', 'a', '--kubeconfig', looker)
      assert.equal(exit, 0)
      assert.match(stdout, /subject +CN=ada/)
      assert.match(stdout, /✖ its events are not available/)
    })

    it('prints everything as one JSON object', async () => {
      await makeRequest(admin, {name: 'a'})
      const report = JSON.parse((await certificate('show', 'a', '-o', 'json')).stdout) as {
        approvers: {approver: string}[]
        request: {key: {bits: number}}
      }
      assert.equal(report.request.key.bits, 256)
      assert.ok(report.approvers.some(({approver}) => approver === 'nodeclient'))
    })
  })

  describe('approve and deny', () => {
    it('decide, and say so', async () => {
      await makeRequest(admin, {name: 'a'})
      await makeRequest(admin, {name: 'b'})
      const approved = await certificate('approve', 'a')
      assert.equal(approved.stdout, 'certificate request "a" approved\n')
      assert.equal(approved.exit, 0, approved.stderr)
      const denied = await certificate('deny', 'b', '--reason', 'Unknown', '--message', 'who?')
      assert.equal(denied.stdout, 'certificate request "b" denied\n')
      assert.equal((await conditionOf('a', 'Approved'))?.reason, 'TrustadmApprove')
      const {reason, message} = (await conditionOf('b', 'Denied')) ?? {}
      assert.deepEqual({reason, message}, {reason: 'Unknown', message: 'who?'})
    })

    it('take names as kubectl prints them, and the beginning of one', async () => {
      for (const name of ['web-front', 'web-back', 'other']) await makeRequest(admin, {name})
      const show = await certificate('show', 'csr/web-front', '--output', 'name')
      assert.equal(show.stdout.trim(), 'web-front')
      const resource = 'certificatesigningrequest.certificates.k8s.io'
      assert.equal((await certificate('approve', `${resource}/web-front`, 'oth')).exit, 0)
      const unclear = await certificate('deny', 'web-')
      assert.equal(unclear.exit, 6)
      assert.match(unclear.stderr, /give more of the name: web-back, web-front/)
      assert.equal(await stateOfRequest('web-back'), 'Pending')
      assert.equal(await stateOfRequest('web-front'), 'Approved')
      assert.equal(await stateOfRequest('other'), 'Approved')
    })

    it('leave a decision that stands as it is, unless --force writes it anew', async () => {
      await makeRequest(admin, {name: 'a'})
      await addCondition(admin, 'a', 'Approved', {reason: 'First'})
      const before = (await admin.csrs.get({name: 'a'})).metadata.resourceVersion
      const again = await certificate('approve', 'a', '--reason', 'Second')
      assert.equal(again.stdout, 'certificate request "a" approved already\n')
      assert.equal((await admin.csrs.get({name: 'a'})).metadata.resourceVersion, before)
      await certificate('approve', 'a', '--reason', 'Second', '--force')
      assert.equal((await conditionOf('a', 'Approved'))?.reason, 'Second')
      assert.equal((await admin.csrs.get({name: 'a'})).status?.conditions?.length, 1)
    })

    it('refuse the opposite of what was decided, also with --force', async () => {
      await makeRequest(admin, {name: 'a'})
      await addCondition(admin, 'a', 'Denied')
      for (const force of [[], ['--force']]) {
        const {stderr, stdout, exit} = await certificate('approve', 'a', ...force)
        assert.equal(exit, 6)
        assert.equal(stdout, '')
        assert.match(stderr, /"a" is already denied/)
      }
    })

    it('go on after a failure, name each, and end with its code', async () => {
      for (const name of ['a', 'b', 'c']) await makeRequest(admin, {name})
      await addCondition(admin, 'b', 'Denied')
      const {stdout, stderr, exit} = await certificate('approve', 'a', 'b', 'c')
      assert.equal(stdout, 'certificate request "a" approved\ncertificate request "c" approved\n')
      assert.match(stderr, /"b" is already denied/)
      assert.equal(exit, 6)
      const mixed = await certificate('approve', 'absent', 'b', '--output', 'json')
      assert.equal(mixed.exit, 1)
      assert.equal(mixed.stdout, '')
      const {error} = JSON.parse(mixed.stderr) as {error: {message: string}}
      assert.match(error.message, /"absent".*"b" is already denied/)
    })

    it('take requests by label', async () => {
      await makeRequest(admin, {name: 'a', labels: {team: 'web'}})
      await makeRequest(admin, {name: 'b'})
      await certificate('approve', '--selector', 'team=web')
      assert.deepEqual(await names('--state', 'approved'), ['a'])
      const none = await certificate('approve', '-l', 'team=none')
      assert.equal(none.exit, 0)
      assert.match(none.stderr, /no requests found with these labels/)
    })

    it('take manifests, lists of them too', async () => {
      for (const name of ['a', 'b', 'c']) await makeRequest(admin, {name})
      const csr = (name: string) => `kind: CertificateSigningRequest\nmetadata: {name: ${name}}\n`
      const manifests = await file('several.yaml', `${csr('a')}---\n${csr('b')}`)
      const list = await file(
        'list.json',
        JSON.stringify({kind: 'CertificateSigningRequestList', items: [{metadata: {name: 'c'}}]}),
      )
      await certificate('approve', '-f', manifests, '-f', list)
      assert.deepEqual((await names('--state', 'approved')).sort(), ['a', 'b', 'c'])
    })

    it('refuse a manifest of another request than is in the cluster', async () => {
      const {spec} = await makeRequest(admin, {name: 'a'})
      await makeRequest(admin, {name: 'b'})
      const manifest = {kind: 'CertificateSigningRequest', metadata: {name: 'b'}, spec}
      const path = await file('other.json', JSON.stringify(manifest))
      const {exit, stderr} = await certificate('approve', '-f', path)
      assert.equal(exit, 6)
      assert.match(stderr, /is not the one in the file/)
      assert.equal(await stateOfRequest('b'), 'Pending')
    })

    it('refuse a manifest of another kind, and one of nothing', async () => {
      const secret = await file('secret.yaml', 'kind: Secret\nmetadata: {name: a}\n')
      const other = await certificate('approve', '-f', secret)
      assert.equal(other.exit, 2)
      assert.match(other.stderr, /contains a Secret, not a CertificateSigningRequest/)
      const empty = await file('empty.yaml', '')
      assert.equal((await certificate('approve', '-f', empty)).exit, 2)
    })

    it('say what they would do in a dry run, and do nothing', async () => {
      await makeRequest(admin, {name: 'a'})
      const {stdout} = await certificate('approve', 'a', '--dry-run')
      assert.equal(stdout, 'would approve certificate request "a"\n')
      assert.equal(await stateOfRequest('a'), 'Pending')
    })

    it('fail where nothing is named', async () => {
      const {exit, stderr} = await certificate('approve')
      assert.equal(exit, 2)
      assert.match(stderr, /certificate list --state pending/)
    })

    it('say which role the caller lacks', async () => {
      await admin.clusterRoles.create({
        metadata: {name: 'clerk'},
        rules: [
          {
            apiGroups: ['certificates.k8s.io'],
            resources: ['certificatesigningrequests', 'certificatesigningrequests/approval'],
            verbs: ['get', 'update'],
          },
        ],
      })
      await admin.clusterRoleBindings.create({
        metadata: {name: 'clerk'},
        roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'clerk'},
        subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'clerk'}],
      })
      const clerk = await file('clerk.conf', await server.kubeconfigFor('clerk', []))
      await makeRequest(admin, {name: 'a'})
      const {exit, stderr} = await run('certificate', 'approve', 'a', '--kubeconfig', clerk)
      assert.equal(exit, 4)
      assert.match(
        stderr,
        /bind the ClusterRole system:certificates\.k8s\.io:kube-apiserver-client-approver/,
      )
    })
  })

  describe('review', () => {
    it('needs a terminal', async () => {
      const {exit, stderr} = await certificate('review')
      assert.equal(exit, 2)
      assert.match(stderr, /needs a terminal/)
      assert.match(stderr, /certificate approve/)
    })
  })

  describe('request', () => {
    const approveAndSign = async (name: string) => {
      await addCondition(admin, name, 'Approved')
      await signRequest(admin, server.issuer, name)
    }
    /** Plays approver and signer for the next request that comes. */
    const decideNext = async (work: (name: string) => Promise<void>) => {
      for await (const {object} of admin.csrs.watch({resourceVersion: '0'})) {
        if (!object.metadata.name || stateOf(object) !== 'Pending') continue
        return await work(object.metadata.name)
      }
    }

    it('makes a kubeconfig that the server knows the user and its groups by', async () => {
      const conf = join(await newFolder(), 'ada.conf')
      const [{exit, stdout, stderr}] = await Promise.all([
        certificate(
          'request',
          ...['--user', 'ada', '--group', 'dev,ops', '--kubeconfig-out', conf],
        ),
        decideNext(approveAndSign),
      ])
      assert.equal(exit, 0, stderr)
      assert.match(stdout, new RegExp(`^kubeconfig +${conf}\nvalid until +\\S+Z\n$`))
      const client = await connect(conf)
      try {
        const {status} = await client.selfSubjectReviews.create({metadata: {}})
        assert.equal(status?.userInfo?.username, 'ada')
        assert.deepEqual(status.userInfo.groups, ['dev', 'ops', 'system:authenticated'])
      } finally {
        await client.close()
      }
      assert.equal((await stat(conf)).mode & 0o777, 0o600)
      assert.deepEqual(await readdir(join(conf, '..')), ['ada.conf'])
    })

    it('makes a pair for a service, which openssl takes for one', async () => {
      const out = await newFolder()
      const [{exit, stderr, stdout}] = await Promise.all([
        certificate(
          'request',
          'web',
          ...['--service', 'web.default.svc,192.0.2.7', '--signer', 'example.com/services'],
          ...['--key-algorithm', 'RSA-2048', '--duration', '1h', '--out', out, '-o', 'json'],
        ),
        decideNext(approveAndSign),
      ])
      assert.equal(exit, 0, stderr)
      const {files} = JSON.parse(stdout) as {files: {key: string; certificate: string}}
      assert.deepEqual((await readdir(out)).sort(), ['web.crt', 'web.key'])
      assert.equal((await stat(files.key)).mode & 0o777, 0o600)
      const {spec} = await admin.csrs.get({name: 'web'})
      assert.equal(spec.expirationSeconds, 3600)
      assert.deepEqual(spec.usages, ['digital signature', 'server auth'])
      const {names: held} = parseCertificate(await readFile(files.certificate, 'utf8'))
      assert.deepEqual(held.dns, ['web.default.svc'])
      assert.deepEqual(held.ips, ['192.0.2.7'])
      const publicOf = async (...args: string[]) => (await openssl('openssl', args)).stdout
      assert.equal(
        await publicOf('pkey', '-in', files.key, '-pubout'),
        await publicOf('x509', '-in', files.certificate, '-noout', '-pubkey'),
      )
    })

    it('goes on with the same key and request after an interruption', async () => {
      const out = await newFolder()
      const line = ['request', '--user', 'ada', '--out', out]
      const first = await certificate(...(line as [string]), '--timeout', '300ms')
      assert.equal(first.exit, 5)
      assert.match(first.stderr, /nobody has approved/)
      const [pending = ''] = await names()
      const told = `waiting for approval: run "trustadm certificate approve ${pending} --kubeconfig `
      assert.equal(first.stderr.split(told).length, 2)
      assert.deepEqual(await readdir(out), ['ada.pending.key'])
      await approveAndSign(pending)
      const second = await certificate(...(line as [string]))
      assert.equal(second.exit, 0, second.stderr)
      assert.match(second.stderr, /resuming with the certificate request/)
      assert.deepEqual(await names(), [pending])
      assert.deepEqual((await readdir(out)).sort(), ['ada.crt', 'ada.key'])
    })

    it('only asks with --no-wait', async () => {
      const out = await newFolder()
      const line = ['--user', 'ada', '--out', out, '--no-wait', '-o', 'name']
      const {stdout, exit} = await certificate('request', ...line)
      assert.equal(exit, 0)
      assert.deepEqual(await names(), [stdout.trim()])
    })

    it('never overwrites a pair without --force, and only once the new one is there', async () => {
      const out = await newFolder()
      await writeFile(join(out, 'ada.key'), 'old key')
      await writeFile(join(out, 'ada.crt'), 'old certificate')
      const line = ['--user', 'ada', '--out', out] as const
      const refused = await certificate('request', ...line)
      assert.equal(refused.exit, 6)
      assert.deepEqual(await names(), [])
      const timedOut = await certificate('request', ...line, '--force', '--timeout', '200ms')
      assert.equal(timedOut.exit, 5)
      assert.equal(await readFile(join(out, 'ada.key'), 'utf8'), 'old key')
      const [pending = ''] = await names()
      await approveAndSign(pending)
      assert.equal((await certificate('request', ...line, '--force')).exit, 0)
      assert.match(await readFile(join(out, 'ada.key'), 'utf8'), /BEGIN PRIVATE KEY/)
    })

    it('uses a key that is there, and leaves it where it is', async () => {
      const out = await newFolder()
      const {privateKey} = await generateKeys()
      const key = await file('own.key', privateKeyPem(privateKey))
      const [{exit, stderr}] = await Promise.all([
        certificate('request', '--user', 'ada', '--key', key, '--out', out),
        decideNext(approveAndSign),
      ])
      assert.equal(exit, 0, stderr)
      assert.deepEqual(await readdir(out), ['ada.crt'])
    })

    it('tells a denial and a failure apart', async () => {
      const denied = await Promise.all([
        certificate('request', 'd', '--user', 'ada', '--out', await newFolder()),
        decideNext((name) => addCondition(admin, name, 'Denied', {message: 'not you'})),
      ])
      assert.equal(denied[0].exit, 4)
      assert.match(denied[0].stderr, /"d" was denied \(Test: not you\)/)
      await admin.csrs.delete({name: 'd'})
      const failed = await Promise.all([
        certificate('request', 'f', '--user', 'ada', '--out', await newFolder()),
        decideNext((name) => addCondition(admin, name, 'Failed', {message: 'no such usage'})),
      ])
      assert.equal(failed[0].exit, 1)
      assert.match(failed[0].stderr, /signer refused the certificate request "f"/)
    })

    it('does not take a certificate for another key', async () => {
      const out = await newFolder()
      const foreign = await server.credentialsFor('ada', [])
      const [{exit, stderr}] = await Promise.all([
        certificate('request', '--user', 'ada', '--out', out),
        decideNext(async (name) => {
          await addCondition(admin, name, 'Approved')
          await setCertificate(admin, name, foreign.certificate)
        }),
      ])
      assert.equal(exit, 1)
      assert.match(stderr, /is for another key/)
      assert.deepEqual(await readdir(out), ['ada.pending.key'])
    })

    it('does not take up a request of the same name for another key', async () => {
      await makeRequest(admin, {name: 'mine'})
      const out = await newFolder()
      const {exit, stderr} = await certificate('request', 'mine', '--user', 'ada', '--out', out)
      assert.equal(exit, 6)
      assert.match(stderr, /there is another certificate request "mine"/)
    })

    const refusals: {name: string; args: string[]; says: RegExp}[] = [
      {name: 'neither a user nor a service', args: [], says: /either for a user or for a service/},
      {
        name: 'both a user and a service',
        args: ['--user', 'a', '--service', 'b'],
        says: /cannot be used together/,
      },
      {
        name: 'a service without a signer',
        args: ['--service', 'a.b'],
        says: /no signer for services/,
      },
      {name: 'an unknown usage', args: ['--user', 'a', '--usages', 'x'], says: /unknown usage "x"/},
      {name: 'a short duration', args: ['--user', 'a', '--duration', '5m'], says: /ten minutes/},
      {
        name: 'a host that is none',
        args: ['--service', 'a b', '--signer', 'e.c/s'],
        says: /neither/,
      },
      {
        name: 'a name for a path',
        args: ['../x', '--user', 'a'],
        says: /cannot be used as a file name/,
      },
      {
        name: 'a kubeconfig for a service',
        args: ['--service', 'a.b', '--signer', 'e.c/s', '--kubeconfig-out', 'x'],
        says: /needs --user/,
      },
    ]
    for (const {name, args, says} of refusals) {
      it(`refuses ${name}, and asks for nothing`, async () => {
        const {exit, stderr, stdout} = await certificate('request', ...args)
        assert.equal(exit, 2)
        assert.equal(stdout, '')
        assert.match(stderr, says)
        assert.deepEqual(await names(), [])
      })
    }
  })

  describe('download', () => {
    it('prints the chain as it was issued', async () => {
      await makeRequest(admin, {name: 'a'})
      await addCondition(admin, 'a', 'Approved')
      const {certificate: leaf} = await server.credentialsFor('ada', [])
      const chain = `# made by the test\n${leaf}${server.ca}`
      await setCertificate(admin, 'a', chain)
      assert.equal((await certificate('download', 'a')).stdout, chain)
      const out = join(folder, 'a.crt')
      const {stdout} = await certificate('download', 'a', '--out', out)
      assert.equal(stdout, `certificate written to ${out}\n`)
      assert.equal(await readFile(out, 'utf8'), chain)
    })

    const states: {
      state: string
      exit: number
      says: RegExp
      by: ('Approved' | 'Denied' | 'Failed')[]
    }[] = [
      {state: 'pending', by: [], exit: 5, says: /nobody has approved[^]*certificate approve a/},
      {
        state: 'approved and not signed',
        by: ['Approved'],
        exit: 5,
        says: /is approved, but not signed yet/,
      },
      {state: 'denied', by: ['Denied'], exit: 4, says: /was denied \(Test: by the test\)/},
      {state: 'failed', by: ['Approved', 'Failed'], exit: 1, says: /signer refused/},
    ]
    for (const {state, by, exit, says} of states) {
      it(`says that a request is ${state}`, async () => {
        await makeRequest(admin, {name: 'a'})
        for (const type of by) await addCondition(admin, 'a', type)
        const result = await certificate('download', 'a')
        assert.equal(result.exit, exit)
        assert.equal(result.stdout, '')
        assert.match(result.stderr, says)
      })
    }
  })

  describe('allow-rejoin', () => {
    const record = async () =>
      (await admin.configMaps.find('trustadm-system/trustadm-node.w9'))?.data ?? {}
    const until = async () => (await record()).rejoinUntil
    const waits = async (name: string) => {
      const csr = await makeRequest(admin, {
        name,
        commonName: 'system:node:w9',
        organizations: ['system:nodes'],
        signer: KUBELET_CLIENT,
        keys: await generateKeys(),
      })
      return readable(csr).pin
    }
    const PIN = `sha256:${'ab'.repeat(32)}`

    it('lets in the key that is named, says until when and how to undo it, and takes it back', async () => {
      const words = ['w9', '--ttl', '30m', '--pin', PIN.toUpperCase().replace('SHA', 'sha')]
      const {stdout, stderr, exit} = await certificate('allow-rejoin', ...words)
      assert.equal(exit, 0, stderr)
      assert.equal(
        stdout,
        `the machine with the key ${PIN} may join as "w9", once, until ${(await until()) ?? ''}\n`,
      )
      assert.match(stderr, /certificate allow-rejoin w9 --revoke/)
      const revoked = await certificate('allow-rejoin', 'w9', '--revoke')
      assert.match(revoked.stdout, /may join as "w9" now/)
      assert.deepEqual(await record(), {node: 'w9'})
      const again = await certificate('allow-rejoin', 'w9', '--revoke')
      assert.match(again.stdout, /there was no permission to revoke/)
    })

    it('lets in nobody who happens to wait: a script has to name the key, and is told which there are', async () => {
      const attacker = await waits('asked-first')
      const pin = await waits('ours')
      for (const words of [['w9'], ['w9', '--yes'], ['w9', '--requester', 'admin']]) {
        const {stderr, exit} = await certificate('allow-rejoin', ...words)
        assert.equal(exit, 2)
        assert.match(stderr, /2 requests are waiting for the name "w9": name the key with --pin/)
        assert.ok(
          stderr.includes(
            `--pin ${attacker} is for request "asked-first" of "admin" from 127.0.0.1`,
          ),
          stderr,
        )
      }
      assert.equal(await until(), undefined)
      const {stdout} = await certificate('allow-rejoin', 'w9', '--pin', pin, '--output', 'json')
      assert.deepEqual(JSON.parse(stdout), {
        node: 'w9',
        allowedUntil: await until(),
        pin,
        requester: null,
        request: 'ours',
        record: 'trustadm-node.w9',
      })
      await certificate('allow-rejoin', 'w9', '--revoke')
    })

    it('asks a person which key is meant, with age, address, requester and pin; none is a choice', async () => {
      const pin = await waits('ours')
      const [found] = (await waitingFor(admin, 'w9')).waiting
      assert.ok(found)
      const waiting = [{...found, address: '192.0.2.7'}]
      const now = new Date()
      const asked: string[] = []
      const answer = (value: string) => (question: string, choices: readonly {name: string}[]) => {
        asked.push(question, ...choices.map(({name}) => name))
        return Promise.resolve(value)
      }
      const chosen = await chooseWaiting('w9', waiting, now, answer('ours'))
      assert.equal(chosen?.pin, pin)
      assert.match(asked.join('\n'), /Which key may join as "w9"\?[^]*\nnone of these\nsha256:/)
      assert.match(
        asked.join('\n'),
        new RegExp(`${pin}, requested \\S+ ago by admin from 192\\.0\\.2\\.7 \\(ours\\)`),
      )
      assert.equal(await chooseWaiting('w9', waiting, now, answer('')), undefined)
    })

    it('with nothing waiting lets in the next request of the requester that is named', async () => {
      const words = ['w9', '--requester', 'system:bootstrap:abcdef']
      const {stdout, exit} = await certificate('allow-rejoin', ...words)
      assert.equal(exit, 0)
      assert.match(
        stdout,
        /the next machine that authenticates as system:bootstrap:abcdef may join as "w9"/,
      )
      assert.match((await record()).rejoinAfter ?? '', /^\d+$/)
      await certificate('allow-rejoin', 'w9', '--revoke')
    })

    it('with nothing waiting lets in whoever had the name before, unless their token is gone', async () => {
      const unknown = await certificate('allow-rejoin', 'w9')
      assert.equal(unknown.exit, 2)
      assert.match(
        unknown.stderr,
        /it is not known who requested the name "w9" before[^]*--requester/,
      )
      const now = new Date(Math.floor(systemClock.now().getTime() / 1000) * 1000)
      const issued = {pin: PIN, notBefore: now, notAfter: new Date(now.getTime() + 3_600_000)}
      const requester = 'system:bootstrap:abcdef'
      await saveIssued(admin, 'w9', {...issued, requester}, {now})
      const gone = await certificate('allow-rejoin', 'w9')
      assert.equal(gone.exit, 2)
      assert.match(gone.stderr, /its token is no longer valid[^]*--requester/)
      await admin.secrets.create({
        metadata: {name: 'bootstrap-token-abcdef', namespace: 'kube-system'},
        type: 'bootstrap.kubernetes.io/token',
        stringData: {
          'token-id': 'abcdef',
          'token-secret': 'u7zq2m9x4c6b1n8w',
          'usage-bootstrap-authentication': 'true',
        },
      })
      const {stdout, stderr} = await certificate('allow-rejoin', 'w9')
      assert.match(
        stdout,
        /the next machine that authenticates as system:bootstrap:abcdef may join/,
        stderr,
      )
      await certificate('allow-rejoin', 'w9', '--revoke')
    })

    it('refuses what is no name of a node, no end and no pin', async () => {
      assert.equal((await certificate('allow-rejoin', 'W_9')).exit, 2)
      assert.equal((await certificate('allow-rejoin', 'w9', '--ttl', '0')).exit, 2)
      const {exit, stderr} = await certificate('allow-rejoin', 'w9', '--pin', 'sha256:abc')
      assert.equal(exit, 2)
      assert.match(stderr, /is not the pin of a key/)
    })
  })
})
