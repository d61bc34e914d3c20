import assert from 'node:assert/strict'
import type {OwnerReference} from '../../../../src/api/meta.ts'
import {nodeRestriction} from '../../../../src/server/admission/index.ts'
import {admit} from '../support.ts'
import {APP, assertRefused, make, setStage, type Stage} from './support.ts'

const MIRROR = {'kubernetes.io/config.mirror': 'hash'}

const podOn = (name: string, nodeName: string) => ({
  metadata: {name, labels: {app: name}},
  spec: {nodeName, automountServiceAccountToken: false, containers: [{name: 'c', image: 'i'}]},
})

describe('NodeRestriction, of pods', () => {
  let stage: Stage
  let uid: string

  before(async () => {
    stage = await setStage()
    uid = (await stage.admin.get('/api/v1/nodes/mynode')).body.metadata.uid ?? ''
    await make(stage.admin, `${APP}/pods`, podOn('mine', 'mynode'))
    await make(stage.admin, `${APP}/pods`, podOn('theirs', 'othernode'))
  })

  after(() => stage.stop())

  const owner = (changes: Partial<OwnerReference> = {}): OwnerReference => ({
    apiVersion: 'v1',
    kind: 'Node',
    name: 'mynode',
    uid,
    controller: true,
    ...changes,
  })

  const mirror = (spec: object = {}, ownerReferences = [owner()]) => ({
    metadata: {name: 'static-mynode', annotations: MIRROR, ownerReferences},
    spec: {nodeName: 'mynode', containers: [{name: 'c', image: 'i'}], ...spec},
  })

  it('lets a node create and delete its mirror pod', async () => {
    assert.equal((await stage.node.post(`${APP}/pods`, mirror())).status, 201)
    const path = `${APP}/pods/static-mynode?gracePeriodSeconds=0`
    assert.equal((await stage.node.delete(path)).status, 200)
  })

  it('refuses any other pod', async () => {
    assertRefused(
      await stage.node.post(`${APP}/pods`, podOn('new', 'mynode')),
      'pod does not have "kubernetes.io/config.mirror" annotation, node "mynode" can only create mirror pods',
    )
  })

  const itself = (what: string) => `node "mynode" can only create pods with ${what} set to itself`
  const owners: [name: string, references: () => OwnerReference[], why: string][] = [
    ['none', () => [], itself('an owner reference')],
    ['two', () => [owner(), owner()], itself('a single owner reference')],
    ['another node', () => [owner({name: 'othernode'})], itself('an owner reference')],
    ['another kind', () => [owner({kind: 'Pod'})], itself('an owner reference')],
    ['another version', () => [owner({apiVersion: 'v2'})], itself('an owner reference')],
    ['no controller', () => [owner({controller: false})], itself('a controller owner reference')],
    [
      'one that blocks its deletion',
      () => [owner({blockOwnerDeletion: true})],
      'node "mynode" must not set blockOwnerDeletion on an owner reference',
    ],
  ]
  for (const [name, references, why] of owners) {
    it(`refuses a mirror pod whose owner is ${name}`, async () => {
      assertRefused(await stage.node.post(`${APP}/pods`, mirror({}, references())), why)
    })
  }

  it('refuses a mirror pod of a node of the same name that is gone', async () => {
    assertRefused(
      await stage.node.post(`${APP}/pods`, mirror({}, [owner({uid: 'former'})])),
      `node mynode UID mismatch: expected former got ${uid}`,
    )
  })

  it('answers 404 where the node is not registered', async () => {
    const unknown = stage.admin.as('system:node:ghost', 'system:nodes')
    const pod = mirror({nodeName: 'ghost'}, [owner({name: 'ghost'})])
    const {status, body} = await unknown.post(`${APP}/pods`, pod)
    assert.equal(status, 404)
    assert.equal(body.message, 'nodes "ghost" not found')
  })

  it('refuses a mirror pod on another node', async () => {
    assertRefused(
      await stage.node.post(`${APP}/pods`, mirror({nodeName: 'othernode'})),
      itself('spec.nodeName'),
    )
  })

  // What the plugin before this one refuses for every mirror pod has that one's words.
  const reach = (what: string) => `node "mynode" can not create pods that reference ${what}`
  const references: [name: string, spec: object, why: string][] = [
    [
      'a service account',
      {serviceAccountName: 'runner'},
      'a mirror pod may not reference service accounts',
    ],
    [
      'a secret',
      {volumes: [{name: 'v', secret: {secretName: 's'}}]},
      'a mirror pod may not reference secrets',
    ],
    [
      'a secret by a volume of another kind',
      {volumes: [{name: 'v', csi: {driver: 'd', nodePublishSecretRef: {name: 's'}}}]},
      'a mirror pod may not reference secrets',
    ],
    ['a config map', {volumes: [{name: 'v', configMap: {name: 'c'}}]}, reach('configmaps')],
    [
      'a config map by a variable',
      {containers: [{name: 'c', image: 'i', envFrom: [{configMapRef: {name: 'c'}}]}]},
      reach('configmaps'),
    ],
    [
      'a claim',
      {volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'p'}}]},
      reach('persistentvolumeclaims'),
    ],
    [
      'the claim of an ephemeral volume',
      {volumes: [{name: 'v', ephemeral: {volumeClaimTemplate: {spec: {}}}}]},
      reach('persistentvolumeclaims'),
    ],
    [
      'trusted certificates',
      {
        volumes: [
          {name: 'v', projected: {sources: [{clusterTrustBundle: {name: 't', path: 'p'}}]}},
        ],
      },
      reach('clustertrustbundles'),
    ],
    [
      'a certificate for itself',
      {
        volumes: [
          {
            name: 'v',
            projected: {
              sources: [
                {
                  podCertificate: {
                    signerName: 'example.com/a',
                    keyType: 'ED25519',
                    credentialBundlePath: 'p',
                  },
                },
              ],
            },
          },
        ],
      },
      reach('podcertificates'),
    ],
    [
      'a token',
      {volumes: [{name: 'v', projected: {sources: [{serviceAccountToken: {path: 'p'}}]}}]},
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
    ['devices', {resourceClaims: [{name: 'gpu', resourceClaimName: 'g'}]}, reach('resourceclaims')],
    [
      'devices by a template',
      {resourceClaims: [{name: 'gpu', resourceClaimTemplateName: 'g'}]},
      reach('resourceclaims'),
    ],
  ]
  for (const [name, spec, why] of references) {
    it(`refuses a mirror pod that reaches for ${name}`, async () => {
      assertRefused(await stage.node.post(`${APP}/pods`, mirror(spec)), why)
    })
  }

  it('keeps the status of a new mirror pod out, claims on devices with it', async () => {
    const status = {resourceClaimStatuses: [{name: 'gpu', resourceClaimName: 'theirs'}]}
    const created = await make(stage.node, `${APP}/pods?dryRun=All`, {...mirror(), status})
    assert.equal('resourceClaimStatuses' in (created.status as object), false)
  })

  it('lets a node delete the pods that run on it, and no others', async () => {
    const dry = `?dryRun=All`
    assert.equal((await stage.node.delete(`${APP}/pods/mine${dry}`)).status, 200)
    assertRefused(
      await stage.node.delete(`${APP}/pods/theirs${dry}`),
      'node "mynode" can only delete pods with spec.nodeName set to itself',
    )
    assert.equal((await stage.node.delete(`${APP}/pods/missing`)).status, 404)
  })

  it('refuses an update even if a role gives the right', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await make(stage.admin, `${rbac}/clusterroles`, {
      metadata: {name: 'pods'},
      rules: [{apiGroups: [''], resources: ['pods', 'pods/binding'], verbs: ['*']}],
    })
    await make(stage.admin, `${rbac}/clusterrolebindings`, {
      metadata: {name: 'pods'},
      roleRef: {kind: 'ClusterRole', name: 'pods'},
      subjects: [{kind: 'Group', name: 'system:nodes'}],
    })
    assertRefused(
      await stage.node.patch(`${APP}/pods/mine`, {metadata: {labels: {a: 'b'}}}),
      'unexpected operation "UPDATE", node "mynode" can only create and delete mirror pods',
    )
    const target = {kind: 'Node', name: 'mynode'}
    assertRefused(
      await stage.node.post(`${APP}/pods/theirs/binding`, {metadata: {name: 'theirs'}, target}),
      `unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
    )
  })

  it('lets a node report on its pods, and change nothing else by that', async () => {
    const path = `${APP}/pods/mine/status`
    assert.equal((await stage.node.patch(path, {status: {phase: 'Running'}})).status, 200)
    assertRefused(
      await stage.node.patch(path, {metadata: {labels: {app: 'stolen'}}}),
      'node "mynode" cannot update labels through pod status',
    )
    assertRefused(
      await stage.node.patch(path, {
        status: {resourceClaimStatuses: [{name: 'gpu', resourceClaimName: 'theirs'}]},
      }),
      'node "mynode" cannot update resource claim statues',
    )
    const ownerReferences = [owner()]
    const written = await stage.node.patch(path, {metadata: {ownerReferences}})
    assert.equal(written.body.metadata.ownerReferences, undefined)
    assertRefused(
      await stage.node.patch(`${APP}/pods/theirs/status`, {status: {phase: 'Failed'}}),
      'node "mynode" can only update pod status for pods with spec.nodeName set to itself',
    )
  })

  it('lets a node evict the pods that run on it, and no others', async () => {
    const user = {username: 'system:node:mynode', groups: ['system:nodes']}
    const evict = (nodeName: string) =>
      admit(
        nodeRestriction,
        {
          resource: 'pods',
          subresource: 'eviction',
          name: 'p',
          object: {metadata: {name: 'p'}},
          old: {metadata: {name: 'p'}, spec: {nodeName}},
        },
        {user, namespace: 'app'},
      )
    await evict('mynode')
    await assert.rejects(evict('othernode'), {
      message:
        'pods "p" is forbidden: node mynode can only evict pods with spec.nodeName set to itself',
    })
  })
})
