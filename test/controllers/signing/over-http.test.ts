import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connect} from '../../../src/client/connect.ts'
import {
  startController,
  type RunningController,
} from '../../../src/controllers/kernel/controller.ts'
import {csrSignerController} from '../../../src/controllers/csr-signer.ts'
import {findCondition} from '../../../src/csr/conditions.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {systemClock} from '../../../src/runtime.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {DAY} from '../../pki/support.ts'
import {
  CLIENT_USAGES,
  SERVING_USAGES,
  approve,
  csrFor,
  pemOf,
  settled,
  wellKnownSigners,
  type Wish,
} from './support.ts'

const MINUTE = 60_000
const HOURS = 3600
const CLIENT = 'kubernetes.io/kube-apiserver-client'
const KUBELET = 'kubernetes.io/kube-apiserver-client-kubelet'
const SERVING = 'kubernetes.io/kubelet-serving'
const withoutKey = (usages: string[]) => usages.filter((usage) => usage !== 'key encipherment')

describe('the signer, over HTTP', () => {
  let server: TestServer
  let client: ApiClient
  let controller: RunningController
  let signers: ReturnType<typeof wellKnownSigners>
  let count = 0
  const problems: unknown[] = []

  before(async () => {
    server = await startTestServer({controllers: false})
    client = await connect({content: await server.kubeconfigFor('admin', ['system:masters'])})
    const account = {
      username: 'system:serviceaccount:kube-system:certificate-controller',
      groups: ['system:serviceaccounts', 'system:authenticated'],
    }
    const own = server.clientAs(account)
    signers = wellKnownSigners(server.issuer, DAY)
    const deps = {
      signers,
      issuances: {append: () => Promise.resolve(undefined)},
      checksSignatures: true,
    }
    controller = startController(
      csrSignerController(own, own, deps, {clock: systemClock}),
      (_name, _key, error) => problems.push(error),
    )
    await controller.synced
  })
  after(async () => {
    await controller.close()
    await client.close()
    await server.stop()
    assert.deepEqual(problems, [])
  })

  const allowSigning = async (signer: string) => {
    const kind = 'ClusterRole' as const
    const role = {apiGroup: 'rbac.authorization.k8s.io', kind, name: 'test:sign'}
    await client.clusterRoles.create({
      metadata: {name: role.name},
      rules: [
        {
          verbs: ['sign'],
          apiGroups: ['certificates.k8s.io'],
          resources: ['signers'],
          resourceNames: [signer],
        },
      ],
    })
    const account = {name: 'certificate-controller', namespace: 'kube-system'}
    await client.clusterRoleBindings.create({
      metadata: {name: role.name},
      subjects: [{kind: 'ServiceAccount', ...account}],
      roleRef: role,
    })
  }

  const outcome = async (wish: Wish) => {
    const name = `r${(count += 1)}`
    await approve(client, await client.csrs.create(await csrFor({...wish, name})))
    return await settled(client, name)
  }

  const signed: [string, Wish][] = [
    ['client auth for a user', {signerName: CLIENT, commonName: 'ada', organizations: []}],
    [
      'the same without key encipherment',
      {signerName: CLIENT, commonName: 'ada', usages: withoutKey(CLIENT_USAGES)},
    ],
    ['a kubelet as a client', {signerName: KUBELET}],
    ['the same without key encipherment', {signerName: KUBELET, usages: withoutKey(CLIENT_USAGES)}],
    ['a kubelet that serves', {signerName: SERVING, usages: SERVING_USAGES, names: {dns: ['a']}}],
    [
      'the same without key encipherment',
      {signerName: SERVING, usages: withoutKey(SERVING_USAGES), names: {ips: ['192.0.2.1']}},
    ],
  ]
  for (const [name, wish] of signed) {
    it(`signs ${name}: ${wish.signerName ?? ''}`, async () => {
      const {names, isAuthority} = parseCertificate(pemOf(await outcome(wish)))
      assert.equal(isAuthority, false)
      assert.deepEqual(names, {dns: [], ips: [], emails: [], uris: [], ...wish.names})
    })
  }

  const failing: [string, Wish, RegExp][] = [
    [
      'server auth for a user',
      {signerName: CLIENT, usages: [...CLIENT_USAGES, 'server auth']},
      /not permitted: "server auth"/,
    ],
    [
      'a user without client auth',
      {signerName: CLIENT, usages: ['digital signature']},
      /missing required usage "client auth"/,
    ],
    [
      'a kubelet with a name',
      {signerName: KUBELET, names: {dns: ['a']}},
      /expected: there are no alternative names/,
    ],
    [
      'a kubelet that serves under no name',
      {signerName: SERVING, usages: SERVING_USAGES},
      /the alternative names are none \(expected: .* at least one\)/,
    ],
  ]
  for (const [name, wish, why] of failing) {
    it(`fails ${name}: ${wish.signerName ?? ''}`, async () => {
      const csr = await outcome(wish)
      const {reason, message} = findCondition(csr, 'Failed') ?? {}
      assert.equal(reason, 'SignerValidationFailure')
      assert.match(message ?? '', why)
      assert.equal(csr.status?.certificate, undefined)
    })
  }

  it('signs what came by v1beta1 for the signer of old, without checks', async () => {
    const beta = client.resource({
      group: 'certificates.k8s.io',
      version: 'v1beta1',
      plural: 'certificatesigningrequests',
      kind: 'CertificateSigningRequest',
      namespaced: false,
    })
    const {spec} = await csrFor({commonName: 'anything', usages: ['code signing']})
    const {signerName: _signer, ...asked} = spec
    await beta.create({metadata: {name: 'old'}, spec: asked})
    const made = await client.csrs.get('old')
    assert.equal(made.spec.signerName, 'kubernetes.io/legacy-unknown')
    await approve(client, made)
    const certificate = parseCertificate(pemOf(await settled(client, 'old')))
    assert.deepEqual(certificate.extendedKeyUsages, ['code signing'])
  })

  for (const [asked, minutes] of [
    [undefined, 24 * 60],
    [24 * HOURS, 24 * 60],
    [48 * HOURS, 24 * 60],
    [20 * HOURS, 20 * 60],
    [10 * HOURS, 10 * 60],
    [2 * HOURS, 2 * 60 + 5],
    [30 * 60, 35],
    [600, 15],
  ] as const) {
    it(`signs for ${minutes} min where ${asked ?? 'no'} seconds are asked for`, async () => {
      const wish = asked === undefined ? {} : {expirationSeconds: asked}
      const {notBefore, notAfter} = parseCertificate(pemOf(await outcome(wish)))
      assert.equal(notAfter.getTime() - notBefore.getTime(), minutes * MINUTE)
    })
  }

  it('signs what was approved before its signer was there', async () => {
    const signer = {...signers.current.get(CLIENT)!, rules: {names: []}}
    const name = 'early'
    const early = await csrFor({name, signerName: 'example.com/later'})
    await approve(client, await client.csrs.create(early))
    // Signed after it, so that the early one was seen and left alone.
    await outcome({})
    assert.equal((await client.csrs.get(name)).status?.certificate, undefined)
    await allowSigning('example.com/later')
    signers.replace(new Map([...signers.current, ['example.com/later', signer]]))
    assert.ok(parseCertificate(pemOf(await settled(client, name))))
  })

  for (const expirationSeconds of [599, 180, -420]) {
    it(`never sees a request for ${expirationSeconds} seconds`, async () => {
      await assert.rejects(outcome({expirationSeconds}), {code: 'INVALID'})
    })
  }
})
