import assert from 'node:assert/strict'
import {mkdir, readFile, readlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiObject} from '../../../src/api/meta.ts'
import {connect} from '../../../src/client/connect.ts'
import {buildKubeconfig, type KubeconfigSpec} from '../../../src/client/kubeconfig-build.ts'
import {formatKubeconfig, parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import {bootstrapperUser} from '../../../src/csr/bootstrapper.ts'
import {credentialOf} from '../../../src/csr/user-extra.ts'
import type {TrustError} from '../../../src/errors.ts'
import {whoAmI} from '../../../src/node/acceptance.ts'
import {joinPhases, planJoin, runJoin} from '../../../src/node/join/join.ts'
import {issueLeaf} from '../../../src/pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {until} from '../../server/support.ts'
import {joinRequest, startJoinableCluster, useFolder, type JoinableCluster} from '../support.ts'

const USER = bootstrapperUser('kube-system')
const HOUR = 3_600_000

describe('join with a kubeconfig', function () {
  this.timeout(30_000)
  const folder = useFolder()
  let cluster: JoinableCluster
  let issuing: {stop: () => Promise<void>}
  before(async () => {
    cluster = await startJoinableCluster()
    await cluster.admin.clusterRoleBindings.create({
      metadata: {name: 'bootstrapper'},
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:node-bootstrapper',
      },
      subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER}],
    })
    const bootstrapper = cluster.clientAs({username: USER, groups: ['system:authenticated']})
    await until(async () => {
      const {status} = await bootstrapper.selfSubjectAccessReviews.create({
        metadata: {},
        spec: {
          resourceAttributes: {
            verb: 'create',
            group: 'certificates.k8s.io',
            resource: 'certificatesigningrequests',
          },
        },
      })
      return status?.allowed === true
    })
    issuing = cluster.issueAll()
  })
  after(async () => {
    await issuing.stop()
    await cluster.stop()
  })

  const put = async (name: string, content: string) => {
    const path = join(folder(), name)
    await writeFile(path, content, {mode: 0o600})
    return path
  }
  const kubeconfigOf = (credentials: KubeconfigSpec['credentials']) =>
    formatKubeconfig(
      buildKubeconfig({server: cluster.url, ca: cluster.ca, userName: 'any', credentials}),
    )
  const withCertificate = async (): Promise<string> =>
    put('bootstrap.conf', await cluster.kubeconfigFor(USER, ['system:serviceaccounts:kube-system']))
  const request = (node: string, bootstrapKubeconfig: string) =>
    joinRequest({
      ...cluster.settings(join(folder(), node), node),
      discovery: {},
      token: undefined,
      bootstrapKubeconfig,
    })
  const run = async (node: string, file: string) => {
    const asked = request(node, file)
    await runJoin(asked, joinPhases())
    return asked.lines.join('\n')
  }
  const failing = (node: string, file: string): Promise<TrustError> =>
    run(node, file).then(
      () => assert.fail('it did not'),
      (error: unknown) => error as TrustError,
    )
  const requestsOf = async (user: string) =>
    (await cluster.admin.csrs.list()).items.filter(({spec}) => spec.username === user)
  const userOf = async (node: string) => {
    const client = await connect(join(folder(), node, 'kubelet.conf'))
    try {
      return await whoAmI(client)
    } finally {
      await client.close()
    }
  }
  const currentOf = (node: string) =>
    readlink(join(folder(), node, 'pki', 'kubelet-client-current.pem'))
  /** A certificate of the node itself, as an operator may issue one. */
  const ownOf = async (node: string, notBefore: Date, notAfter: Date) => {
    const keys = await generateKeys()
    const certificate = await issueLeaf(cluster.issuer, {
      subject: {commonName: `system:node:${node}`, organizations: ['system:nodes']},
      names: NO_NAMES,
      publicKey: keys.publicKey,
      usages: ['digital signature', 'client auth'],
      validity: {notBefore, notAfter},
    })
    return {certificate, key: privateKeyPem(keys.privateKey)}
  }
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR)

  it('asks again if the credential that its request waits with was replaced', async () => {
    await issuing.stop()
    const old = request('replaced', await withCertificate())
    old.settings.certificateTimeout = 100
    await assert.rejects(runJoin(old, joinPhases()), {code: 'CERTIFICATE_PENDING'})
    const [waiting] = (await cluster.admin.csrs.list()).items
    const revoked = credentialOf(waiting?.spec ?? {})
    assert.match(revoked ?? '', /^X509SHA256=/)
    issuing = cluster.issueAll(({spec}) => credentialOf(spec) !== revoked)
    try {
      const lines = await run('replaced', await withCertificate())
      assert.match(lines, /waits, and was made with another credential/)
    } finally {
      await issuing.stop()
      issuing = cluster.issueAll()
    }
  })

  it('takes a client certificate in it', async () => {
    await run('inline', await withCertificate())
    assert.equal(await userOf('inline'), 'system:node:inline')
    const [csr] = await requestsOf(USER)
    assert.match(csr?.metadata.name ?? '', /^node-csr-/)
  })

  it('takes a client certificate in files beside it', async () => {
    const {certificate, key} = await cluster.credentialsFor(USER, [])
    await mkdir(join(folder(), 'files'))
    await put('files/client.crt', certificate)
    await put('files/client.key', key)
    await put('files/ca.crt', cluster.ca)
    const config = buildKubeconfig({
      server: cluster.url,
      userName: 'any',
      credentials: {certificateFile: 'files/client.crt', keyFile: 'files/client.key'},
    })
    const [entry] = config.clusters
    assert.ok(entry)
    entry.cluster['certificate-authority'] = 'files/ca.crt'
    await run('files-beside', await put('bootstrap.conf', formatKubeconfig(config)))
    assert.equal(await userOf('files-beside'), 'system:node:files-beside')
  })

  describe('with a service-account token', () => {
    let token = ''
    before(async () => {
      const name = 'node-bootstrapper'
      await cluster.admin.serviceAccounts.create({metadata: {name, namespace: 'kube-system'}})
      const review: ApiObject & {spec: object; status?: {token?: string}} = {
        metadata: {},
        spec: {expirationSeconds: 3600},
      }
      const answer = await cluster.admin.serviceAccounts.createSubresource(
        {name, namespace: 'kube-system'},
        'token',
        review,
      )
      token = answer.status?.token ?? ''
      assert.notEqual(token, '')
    })

    it('takes it from the kubeconfig, and stores it nowhere', async () => {
      await run('by-token', await put('bootstrap.conf', kubeconfigOf({token})))
      assert.equal(await userOf('by-token'), 'system:node:by-token')
      const text = await readFile(join(folder(), 'by-token', 'kubelet.conf'), 'utf8')
      assert.ok(!text.includes(token))
    })

    it('takes it from a file beside the kubeconfig', async () => {
      await put('token', `${token}\n`)
      const file = await put('bootstrap.conf', kubeconfigOf({tokenFile: 'token'}))
      await run('by-token-file', file)
      assert.equal(await userOf('by-token-file'), 'system:node:by-token-file')
    })

    it('writes it into bootstrap-kubelet.conf for a kubelet', async () => {
      const file = await put('bootstrap.conf', kubeconfigOf({token}))
      await runJoin(request('for-kubelet', file), joinPhases({forKubelet: true}))
      const path = join(folder(), 'for-kubelet', 'bootstrap-kubelet.conf')
      const {users} = parseKubeconfig(await readFile(path, 'utf8'))
      assert.equal(users[0]?.user.token, token)
    })

    it('says that the cluster does not accept a revoked one, and shows nothing of it', async () => {
      const other = `${token.slice(0, -8)}AAAAAAAA`
      const error = await failing(
        'revoked',
        await put('bootstrap.conf', kubeconfigOf({token: other})),
      )
      assert.equal(error.code, 'UNAUTHORIZED')
      assert.match(error.message, /bootstrap\.conf/)
      assert.match(error.suggestions.join('\n'), /trustadm bootstrap-credential create/)
      assert.ok(!JSON.stringify([error, error.message]).includes(other.slice(0, 40)))
    })
  })

  it('keeps a valid certificate, whatever the kubeconfig contains', async () => {
    const file = await withCertificate()
    await run('again', file)
    const before = await currentOf('again')
    assert.match(await run('again', file), /the certificate is kept/)
    assert.equal(await currentOf('again'), before)
  })

  it('leaves the file where it is, even under the name of the one that join writes', async () => {
    const dir = join(folder(), 'in-place')
    await mkdir(dir)
    const path = join(dir, 'bootstrap-kubelet.conf')
    await writeFile(path, await readFile(await withCertificate()), {mode: 0o600})
    await run('in-place', path)
    assert.ok(await readFile(path))
  })

  describe("with the node's own certificate in it", () => {
    const fileOf = async (node: string, notBefore: Date, notAfter: Date) =>
      put('own.conf', kubeconfigOf(await ownOf(node, notBefore, notAfter)))

    it('uses that, and asks for nothing', async () => {
      const file = await fileOf('own', ago(1), ago(-24))
      const plan = await planJoin(request('own', file), joinPhases())
      assert.match(JSON.stringify(plan.changes), /store the certificate that was given/)
      const before = (await cluster.admin.csrs.list()).items.length
      assert.match(await run('own', file), /is this node's own/)
      assert.equal(await userOf('own'), 'system:node:own')
      assert.equal((await cluster.admin.csrs.list()).items.length, before)
    })

    it('replaces an older one by it, and never a newer one', async () => {
      await run('compared', await withCertificate())
      const first = await currentOf('compared')
      // The test's signer backdates by an hour.
      await run('compared', await fileOf('compared', ago(2), ago(-24)))
      assert.equal(await currentOf('compared'), first)
      await run('compared', await fileOf('compared', ago(0.5), ago(-24)))
      assert.notEqual(await currentOf('compared'), first)
    })

    it('says that it has expired', async () => {
      const error = await failing('expired', await fileOf('expired', ago(3), ago(1)))
      assert.equal(error.code, 'UNAUTHORIZED')
      assert.match(error.suggestions.join('\n'), /the client certificate expired at/)
    })

    it('does not let it speak for another node', async () => {
      const error = await failing('two', await fileOf('one', ago(1), ago(-24)))
      assert.equal(error.code, 'FORBIDDEN')
      assert.match(error.suggestions.join('\n'), /check --node-name/)
    })
  })

  it('works with a cluster that has no cluster-info', async () => {
    const {configMaps} = cluster.admin
    const key = {namespace: 'kube-public', name: 'cluster-info'}
    const {metadata: _, ...info} = await configMaps.get(key)
    await configMaps.delete(key)
    try {
      const lines = await run('plain', await withCertificate())
      assert.match(lines, /has no cluster-info: what .*bootstrap\.conf says is used as it is/)
      assert.equal(await userOf('plain'), 'system:node:plain')
    } finally {
      await configMaps.create({...info, metadata: key})
    }
  })

  it('refuses a server that its CA has not signed, and writes nothing', async () => {
    const other = await startJoinableCluster()
    try {
      const {certificate, key} = await cluster.credentialsFor(USER, [])
      const config = buildKubeconfig({
        server: cluster.url,
        ca: other.ca,
        userName: 'any',
        credentials: {certificate, key},
      })
      const error = await failing('fooled', await put('bootstrap.conf', formatKubeconfig(config)))
      assert.equal(error.code, 'SERVER_NOT_TRUSTED')
      await assert.rejects(readFile(join(folder(), 'fooled', 'cluster-info.yaml')))
    } finally {
      await other.stop()
    }
  })
})
