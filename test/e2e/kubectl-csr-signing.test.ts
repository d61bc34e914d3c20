import assert from 'node:assert/strict'
import {createPrivateKey, X509Certificate} from 'node:crypto'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {buildKubeconfig} from '../../src/client/kubeconfig-build.ts'
import {formatKubeconfig} from '../../src/client/kubeconfig.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {createIssuer, issueLeaf, type Issuer} from '../../src/pki/issuer.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {authorityValidity, validityFor} from '../../src/pki/lifetimes.ts'
import {parseRequest} from '../../src/pki/request.ts'
import {systemClock} from '../../src/runtime.ts'
import {LineStream} from '../helpers/line-stream.ts'
import {askedFor, listOf, type Asked} from './request-manifests.ts'
import {assertContains, lines} from './text.ts'
import {traceCluster} from './traces/trace-cluster.ts'
import {withEveryKubectl, type Context} from './versions.ts'

const RESOURCE = 'certificatesigningrequest.certificates.k8s.io'
const STATUS = (name: string) =>
  `/apis/certificates.k8s.io/v1/certificatesigningrequests/${name}/status`
const DAY = 86_400_000

interface Request {
  spec: {request: string}
  status: {certificate?: string}
}

const create = (context: Context, {manifest}: Asked) =>
  context.kubectl.ok('create -f -', {input: JSON.stringify(manifest)})

const conditionOf = async (context: Context, name: string): Promise<string | undefined> =>
  lines(await context.kubectl.ok(`get csr ${name} --no-headers`))[0]
    ?.split(' ')
    .at(-1)

async function certificateOf(context: Context, name: string): Promise<string> {
  const path = "'jsonpath={.status.certificate}'"
  return Buffer.from(await context.kubectl.ok(`get csr ${name} -o ${path}`), 'base64').toString()
}

async function untilIssued(context: Context, name: string): Promise<void> {
  const watch = new LineStream(context.kubectl.watchOne('csr', name))
  try {
    await watch.until((seen) => seen.some((line) => line.endsWith(' Approved,Issued')))
  } finally {
    await watch.stop()
  }
}

/** Rules that let one user do one thing to the requests of one signer, and no other. */
const grant = (prefix: string, role: 'approve' | 'sign', subresource: string) => {
  const name = `${prefix}-${role}`
  const group = ['certificates.k8s.io']
  const requests = 'certificatesigningrequests'
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {name},
      rules: [
        {apiGroups: group, resources: [requests], verbs: ['get', 'list', 'watch']},
        {apiGroups: group, resources: [`${requests}/${subresource}`], verbs: ['update']},
        {
          apiGroups: group,
          resources: ['signers'],
          resourceNames: [`example.test/${prefix}`],
          verbs: [role],
        },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: {name},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name},
      subjects: [{kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name}],
    },
  ]
}

withEveryKubectl('csr signing', (context) => {
  const {prefix} = context

  describe('by a third party', () => {
    const [approver, signer] = [`${prefix}-approve`, `${prefix}-sign`]
    const name = `${prefix}-custom`
    const foreign = `${prefix}-foreign`
    let issuer: Issuer
    let asked: Asked
    before(async () => {
      const keys = await generateKeys()
      const validity = authorityValidity(systemClock.now(), DAY)
      const ca = await createAuthorityCertificate({commonName: 'third party'}, keys, validity)
      issuer = createIssuer(parseCertificate(ca), keys.privateKey)
      const items = [...grant(prefix, 'approve', 'approval'), ...grant(prefix, 'sign', 'status')]
      const input = JSON.stringify({apiVersion: 'v1', kind: 'List', items})
      await context.kubectl.ok('create -f -', {input})
      asked = await askedFor(name, {signerName: `example.test/${prefix}`})
      await create(context, asked)
      await create(context, await askedFor(foreign, {signerName: `elsewhere.test/${prefix}`}))
    })
    after(async () => {
      const roles = `${approver} ${signer}`
      await context.kubectl.ok(`delete clusterrole,clusterrolebinding ${roles}`)
      await context.kubectl.ok(`delete csr ${name} ${foreign}`)
    })

    /** Reads a request as the signer and puts it back with a certificate of the signer's own CA. */
    async function sign(request: string, who: string) {
      const text = await context.kubectl.ok(`get csr ${request} -o json --as=${signer}`)
      const object = JSON.parse(text) as Request
      const {subject, publicKey} = parseRequest(
        Buffer.from(object.spec.request, 'base64').toString(),
      )
      const certificate = await issueLeaf(issuer, {
        subject,
        names: {dns: [], ips: [], emails: [], uris: []},
        publicKey,
        usages: ['digital signature', 'client auth'],
        validity: validityFor(systemClock.now(), DAY, issuer.certificate.notAfter),
      })
      object.status.certificate = Buffer.from(certificate).toString('base64')
      const file = join(context.home, `${request}.json`)
      await writeFile(file, JSON.stringify(object))
      return context.kubectl.run(`replace --raw ${STATUS(request)} -f ${file} --as=${who}`)
    }

    it('is approved by one who may approve for its signer, and by no other', async () => {
      const [refused, unknown] = await Promise.all([
        context.kubectl.fails(`certificate approve ${foreign} --as=${approver}`),
        context.kubectl.fails(`certificate approve ${name} --as=${signer}`),
      ])
      assert.match(refused, /user not permitted to approve requests with signerName "elsewhere\.t/)
      assert.match(unknown, /cannot update resource "certificatesigningrequests\/approval"/)
      const said = `${RESOURCE}/${name} approved\n`
      assert.equal(await context.kubectl.ok(`certificate approve ${name} --as=${approver}`), said)
      assert.equal(await conditionOf(context, name), 'Approved')
    })

    it('is signed by one who may sign for its signer, and by no other', async () => {
      await context.kubectl.ok(`certificate approve ${foreign}`)
      const refused = await sign(foreign, signer)
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /user not permitted to sign requests with signerName "elsewhere/)
      const unknown = await sign(name, approver)
      assert.match(unknown.stderr, /cannot update resource "certificatesigningrequests\/status"/)
      const {code, stderr} = await sign(name, signer)
      assert.equal(code, 0, stderr)
      assert.equal(await conditionOf(context, name), 'Approved,Issued')
    })

    it('gives the one who asked a certificate for their key, by the CA of the third party', async () => {
      const certificate = new X509Certificate(await certificateOf(context, name))
      assert.equal(certificate.issuer, 'CN=third party')
      assert.ok(certificate.checkPrivateKey(createPrivateKey(asked.key)))
      const status = 'Status: Approved,Issued'
      assertContains(await context.kubectl.ok(`describe csr ${name}`), [status])
    })

    it('keeps its certificate, whoever signs again', async () => {
      const before = await certificateOf(context, name)
      const {stderr} = await sign(name, signer)
      assert.match(stderr, /updates may not modify existing certificate content/)
      assert.equal(await certificateOf(context, name), before)
    })
  })

  it('by the cluster makes a user of whoever an administrator approves', async () => {
    const name = `${prefix}-user`
    const signerName = 'kubernetes.io/kube-apiserver-client'
    const asked = await askedFor(name, {signerName, commonName: `ada-${prefix}`})
    await create(context, asked)
    await context.kubectl.ok(`certificate approve ${name}`)
    await untilIssued(context, name)
    const {server, ca} = await traceCluster()
    const credentials = {certificate: await certificateOf(context, name), key: asked.key}
    const KUBECONFIG = join(context.home, `${name}.conf`)
    const theirs = buildKubeconfig({server, ca, userName: 'ada', credentials})
    await writeFile(KUBECONFIG, formatKubeconfig(theirs), {mode: 0o600})
    const errors = await context.kubectl.fails('get secrets', {env: {KUBECONFIG}})
    assert.match(errors, new RegExp(`User "ada-${prefix}" cannot list resource "secrets"`))
    await context.kubectl.ok(`delete csr ${name}`)
  })

  it('by the cluster serves v1beta1 too, with its own defaults', async () => {
    const [good, bad] = [`${prefix}-beta`, `${prefix}-beta-bad`]
    const asked = (name: string) =>
      askedFor(name, {version: 'v1beta1', usages: ['digital signature']})
    const [input, worse] = [listOf(await asked(good)), listOf(await asked(bad))]
    const said = await context.kubectl.ok('create -f -', {input})
    assert.equal(said, `${RESOURCE}/${good} created\n`)
    await context.kubectl.ok('create -f -', {input: worse})
    const beta = (name: string) => `certificatesigningrequests.v1beta1.certificates.k8s.io/${name}`
    const [old, today] = await Promise.all([
      context.kubectl.ok(`get ${beta(good)} -o yaml`),
      context.kubectl.ok(`get csr ${good} -o yaml`),
    ])
    const signer = 'signerName: kubernetes.io/legacy-unknown'
    assertContains(old, ['apiVersion: certificates.k8s.io/v1beta1 ', signer])
    assertContains(today, ['apiVersion: certificates.k8s.io/v1 ', signer])

    await Promise.all([
      context.kubectl.ok('certificate approve -f -', {input}),
      context.kubectl.ok('certificate deny -f -', {input: worse}),
    ])
    await untilIssued(context, good)
    const denied = await context.kubectl.ok(`get ${beta(bad)} -o yaml`)
    assertContains(denied, ['reason: KubectlDeny status: "True" type: Denied'])
    await context.kubectl.ok(`delete ${beta(good)} ${beta(bad)}`)
  })
})
