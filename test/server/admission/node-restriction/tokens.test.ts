import assert from 'node:assert/strict'
import {APP, assertRefused, make, setStage, type Stage} from './support.ts'

const TOKEN = `${APP}/serviceaccounts/runner/token`
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const CLAIM = {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}}

describe('NodeRestriction, of tokens', () => {
  let stage: Stage
  let uid: string
  let otherUid: string

  const podOn = async (name: string, nodeName: string) => {
    const pod = await make(stage.admin, `${APP}/pods`, {
      metadata: {name},
      spec: {
        nodeName,
        serviceAccountName: 'runner',
        containers: [{name: 'c', image: 'i'}],
        volumes: [
          {
            name: 'a',
            projected: {sources: [{serviceAccountToken: {path: 't', audience: 'vault'}}]},
          },
          {name: 'b', csi: {driver: 'inline.example.com'}},
          {name: 'c', persistentVolumeClaim: {claimName: 'data'}},
        ],
      },
    })
    return pod.metadata.uid ?? ''
  }

  before(async () => {
    stage = await setStage()
    const {admin} = stage
    for (const name of ['inline', 'claimed', 'unused']) {
      await make(admin, '/apis/storage.k8s.io/v1/csidrivers', {
        metadata: {name: `${name}.example.com`},
        spec: {tokenRequests: [{audience: `${name}-audience`}]},
      })
    }
    await make(admin, `${APP}/persistentvolumeclaims`, {
      metadata: {name: 'data'},
      spec: {...CLAIM, volumeName: 'pv'},
    })
    await make(admin, '/api/v1/persistentvolumes', {
      metadata: {name: 'pv'},
      spec: {
        capacity: {storage: '1Gi'},
        accessModes: ['ReadWriteOnce'],
        csi: {driver: 'claimed.example.com', volumeHandle: 'h'},
      },
    })
    uid = await podOn('mine', 'mynode')
    otherUid = await podOn('theirs', 'othernode')
  })

  after(() => stage.stop())

  const request = (boundObjectRef: object | undefined, audiences: string[] = []) =>
    stage.node.post(TOKEN, {
      spec: {audiences, ...(boundObjectRef === undefined ? {} : {boundObjectRef})},
    })
  const bound = (changes: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    name: 'mine',
    uid,
    ...changes,
  })

  for (const audience of ['', 'vault', 'inline-audience', 'claimed-audience']) {
    it(`gives a token of a pod for ${audience === '' ? 'this server' : audience}`, async () => {
      const {status, text} = await request(bound(), audience === '' ? [] : [audience])
      assert.equal(status, 201, text)
    })
  }

  const refused: [name: string, reference: () => object | undefined, why: () => string][] = [
    ['not bound to anything', () => undefined, () => 'node requested token not bound to a pod'],
    [
      'bound to a node',
      () => ({apiVersion: 'v1', kind: 'Node', name: 'mynode', uid}),
      () => 'node requested token not bound to a pod',
    ],
    [
      'bound to a pod without a name',
      () => bound({name: ''}),
      () => 'node requested token not bound to a pod',
    ],
    [
      'bound to a pod of any uid',
      () => bound({uid: ''}),
      () => 'node requested token with a pod binding without a uid',
    ],
    [
      'bound to a former pod',
      () => bound({uid: 'former'}),
      () =>
        'the UID in the bound object reference (former) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    [
      'bound to a pod on another node',
      () => bound({name: 'theirs', uid: otherUid}),
      () => 'node requested token bound to a pod scheduled on a different node',
    ],
  ]
  for (const [name, reference, why] of refused) {
    it(`refuses a token ${name}`, async () => {
      assertRefused(await request(reference()), why())
    })
  }

  it('answers 404 for a token bound to a pod that is not there', async () => {
    assert.equal((await request(bound({name: 'missing'}))).status, 404)
  })

  it('refuses several audiences', async () => {
    const audiences = ['vault', 'inline-audience']
    assertRefused(await request(bound(), audiences), 'node may only request 0 or 1 audiences')
  })

  it('refuses an audience that the pod gives no token to, until a role allows it', async () => {
    assertRefused(
      await request(bound(), ['unused-audience']),
      'audience "unused-audience" not found in pod spec volume, system:node:mynode is not authorized to request tokens for this audience',
    )
    await make(stage.admin, `${RBAC}/clusterroles`, {
      metadata: {name: 'audience'},
      rules: [
        {
          verbs: ['request-serviceaccounts-token-audience'],
          apiGroups: [''],
          resources: ['unused-audience'],
          resourceNames: ['runner'],
        },
      ],
    })
    await make(stage.admin, `${RBAC}/clusterrolebindings`, {
      metadata: {name: 'audience'},
      roleRef: {kind: 'ClusterRole', name: 'audience'},
      subjects: [{kind: 'Group', name: 'system:nodes'}],
    })
    assert.equal((await request(bound(), ['unused-audience'])).status, 201)
  })
})
