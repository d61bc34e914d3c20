import assert from 'node:assert/strict'
import {join} from 'node:path'
import {parse} from 'yaml'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import {showAuthority} from '../../../src/control-plane/ca-rotation/authorities.ts'
import {readJournal, type Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import {planRotation} from '../../../src/control-plane/ca-rotation/plan.ts'
import {withClient} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {reportRotation} from '../../../src/control-plane/ca-rotation/report.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {fileOf} from '../../../src/control-plane/config/plane.ts'
import {checkExpiration} from '../../../src/control-plane/expiration.ts'
import {listIssuances} from '../../../src/control-plane/issuances.ts'
import {KUBELET_SERVING} from '../../../src/csr/signers.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {verifyChain} from '../../../src/pki/verify.ts'
import {systemClock} from '../../../src/runtime.ts'
import {approve, csrFor, pemOf, SERVING_USAGES, settled} from '../../controllers/signing/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture, silent} from './support.ts'

const CONFS = ['admin.conf', 'super-admin.conf', 'controller-manager.conf', 'scheduler.conf']

const ROTATED = [
  'ca',
  'front-proxy-ca',
  'client-ca',
  'kubelet-ca',
  'kubelet-serving-ca',
  'legacy-unknown-ca',
  'sa',
]

describe('a rotation of all CAs', function () {
  this.timeout(60_000)
  let fixture: PlaneFixture
  let stop: () => Promise<void>
  let oldServing: string

  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    stop = await serveFixture(fixture)
    oldServing = await kubeletCertificate('before')
  })
  after(() => stop())

  const context = () => contextFor(fixture.context.plane)
  const act = (action: Action) => rotate(context(), action, {wait: false, observer})
  const withAdmin = <Result>(work: (client: ApiClient) => Promise<Result>) =>
    withClient(context(), work)

  /** A serving certificate for a kubelet, as PEM. */
  const kubeletCertificate = (name: string) =>
    withAdmin(async (client) => {
      const names = {dns: ['one']}
      const wish = {name, names, usages: SERVING_USAGES, signerName: KUBELET_SERVING}
      await approve(client, await client.csrs.create(await csrFor(wish)))
      return pemOf(await settled(client, name))
    })
  /** Whether those who verify kubelets with the published CAs accept a kubelet with this certificate. */
  const isKubeletVerified = (pem: string) =>
    withAdmin(async ({configMaps}) => {
      const {data} = await configMaps.get({namespace: 'kube-system', name: 'kubelet-serving-ca'})
      const roots = parseBundle(data?.['ca-bundle.crt'] ?? '')
      const how = {roots, usage: 'server auth', now: systemClock.now()} as const
      return verifyChain(parseCertificate(pem), how).ok
    })
  /** The CA of each certificate of the control plane; `@` stands for the time in the name of a new one. */
  const issuers = async () => {
    const {certificates} = await checkExpiration(fixture.context.plane, systemClock)
    return Object.fromEntries(
      certificates.map(({name, issuer = ''}) => [name, issuer.replace(/@\d+$/, '@')]),
    )
  }
  /** The names of the CAs that each kubeconfig trusts. */
  const trustedByKubeconfigs = () =>
    Promise.all(
      CONFS.map(async (name) => {
        const {ca = ''} = await resolveAccess(await loadKubeconfig(join(fixture.dir, name)))
        const names = parseBundle(ca).map(({subject}) => subject.commonName.replace(/@\d+$/, '@'))
        return [...new Set(names)].sort().join()
      }),
    )
  /** The generation of each certificate of a CA. */
  const generations = async (id: string) =>
    (await showAuthority(fixture.context.plane, id, systemClock)).certificates.map(
      ({generation}) => generation,
    )
  /** How many keys of service-account tokens are published. */
  const tokenKeys = () =>
    withAdmin(async (client) => {
      const {keys} = JSON.parse(await client.raw('/openid/v1/jwks')) as {keys: unknown[]}
      return keys.length
    })
  const status = () =>
    withAdmin(async ({configMaps}) => {
      const key = {namespace: 'kube-system', name: 'trustadm-ca-rotation'}
      const text = (await configMaps.find(key))?.data?.status ?? '{}'
      const {credentials} = parse(text) as {credentials?: object}
      return credentials
    })

  it('shows nothing before the first', async () => {
    assert.equal(await status(), undefined)
    const report = await reportRotation(context())
    assert.deepEqual([report.credentials, report.advice], [{rotation: {}}, []])
  })

  it('changes the CAs of clients first, and asks people for what only they can do', async () => {
    await act('start')
    const {lastInitiation} = (await readJournal(fixture.context.plane)) ?? {}
    assert.deepEqual(await status(), {
      rotation: {certificateAuthorities: {phase: 'Prepare', lastInitiation}},
    })
    const client = 'CN=kubernetes-client-ca@'
    assert.deepEqual(await issuers(), {
      apiserver: 'CN=kubernetes',
      // Kubelets learn of its new CA from their nodes.
      'apiserver-kubelet-client': 'CN=kubernetes',
      'front-proxy-client': 'CN=front-proxy-ca@',
      ...Object.fromEntries(CONFS.map((name) => [name, client])),
    })
    assert.deepEqual(new Set(await trustedByKubeconfigs()), new Set(['kubernetes,kubernetes@']))
    // The last one is the new CA as certified by the old one.
    assert.deepEqual(await generations('ca'), [1, 2, 2])
    assert.deepEqual(await generations('client-ca'), [1, undefined])
    assert.equal(await tokenKeys(), 2)
    const {advice} = await reportRotation(context())
    const told = advice.join('\n')
    assert.match(told, /Replace your kubeconfigs and the certificates you got by requests/)
    assert.match(told, /Restart pods/)
    assert.match(told, /Extension API servers must have read .*extension-apiserver-authentication/)
  })

  it('signs kubelet-serving with a CA that all callers of kubelets know', async () => {
    const renewed = await kubeletCertificate('prepared')
    assert.match(parseCertificate(renewed).issuer.commonName, /^kubelet-serving-ca@\d+$/)
    assert.deepEqual(
      [await isKubeletVerified(oldServing), await isKubeletVerified(renewed)],
      [true, true],
    )
  })

  it('names in its plan whom a forced completion would lock out', async () => {
    await withAdmin(({nodes}) => nodes.create({metadata: {name: 'away'}}))
    const names = (found: readonly {kind: string; name: string}[]) =>
      found.map(({kind, name}) => `${kind} ${name}`)
    const planned = async (more: object) => {
      const plan = await planRotation({...context(), ...more}, 'complete', {})
      return [names(plan.dependents), names(plan.lockedOut)]
    }
    assert.deepEqual(await planned({}), [['node away'], ['replaced replaced-here']])
    assert.deepEqual(await planned({force: true}), [[], ['node away', 'replaced replaced-here']])
    const everybody = ['node away', 'replaced replaced-here']
    assert.deepEqual(await planned({ignored: []}), [everybody, []])
    assert.deepEqual(await planned({ignored: ['away']}), [
      ['replaced replaced-here'],
      ['node away'],
    ])
    await withAdmin(({nodes}) => nodes.delete('away'))
  })

  it('changes the CAs of servers last, and asks people to end their trust in the old ones', async () => {
    await act('complete')
    const {lastInitiation, lastCompletion} = (await readJournal(fixture.context.plane)) ?? {}
    assert.ok(lastCompletion)
    assert.deepEqual(await status(), {
      rotation: {
        certificateAuthorities: {
          phase: 'Completed',
          lastInitiation,
          lastCompletion,
          completions: Object.fromEntries(ROTATED.map((id) => [id, lastCompletion])),
        },
      },
    })
    assert.deepEqual(await issuers(), {
      apiserver: 'CN=kubernetes@',
      'apiserver-kubelet-client': 'CN=kubelet-ca@',
      'front-proxy-client': 'CN=front-proxy-ca@',
      ...Object.fromEntries(CONFS.map((name) => [name, 'CN=kubernetes-client-ca@'])),
    })
    assert.deepEqual(new Set(await trustedByKubeconfigs()), new Set(['kubernetes@']))
    assert.deepEqual([await generations('ca'), await generations('client-ca')], [[2], [1]])
    assert.equal(await tokenKeys(), 1)
    const told = (await reportRotation(context())).advice.join('\n')
    assert.match(told, /Pods that were not restarted still trust the old CA/)
    assert.match(told, /Kubeconfigs made during the rotation still contain the old CA/)
    const renewed = await kubeletCertificate('completed')
    assert.match(parseCertificate(renewed).issuer.commonName, /^kubelet-serving-ca@\d+$/)
    assert.deepEqual(
      [await isKubeletVerified(oldServing), await isKubeletVerified(renewed)],
      [false, true],
    )
    const {entries} = await listIssuances(fileOf(fixture.context.plane, 'issuances'), silent)
    assert.deepEqual(
      entries.flatMap((one) =>
        one.decision === 'issued' ? [[one.request, one.issuer?.replace(/@\d+$/, '@')]] : [],
      ),
      [
        ['before', 'CN=kubelet-serving-ca'],
        ['prepared', 'CN=kubelet-serving-ca@'],
        ['completed', 'CN=kubelet-serving-ca@'],
      ],
    )
  })
})
