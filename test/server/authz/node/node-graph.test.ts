import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {ApiObject} from '../../../../src/api/meta.ts'
import {NodeGraph} from '../../../../src/server/authz/node/node-graph.ts'

const pod = (name: string, nodeName: string | undefined, spec: object = {}): ApiObject => ({
  metadata: {namespace: 'app', name},
  spec: {...(nodeName === undefined ? {} : {nodeName}), ...spec},
})

const volume = (name: string, claim: string | undefined, source: object = {}): ApiObject => ({
  metadata: {name},
  spec: {...(claim === undefined ? {} : {claimRef: {namespace: 'app', name: claim}}), ...source},
})

const withSecret = (secretName: string) => ({volumes: [{name: 'v', secret: {secretName}}]})
const withClaim = (claimName: string) => ({
  volumes: [{name: 'v', persistentVolumeClaim: {claimName}}],
})

describe('NodeGraph', () => {
  const references: [string, object, string, string][] = [
    ['a secret volume', withSecret('s'), 'secrets', 's'],
    [
      'a projected secret',
      {volumes: [{projected: {sources: [{secret: {name: 's'}}]}}]},
      'secrets',
      's',
    ],
    ['an image pull secret', {imagePullSecrets: [{name: 's'}]}, 'secrets', 's'],
    [
      'a variable of a container',
      {containers: [{env: [{valueFrom: {secretKeyRef: {name: 's'}}}]}]},
      'secrets',
      's',
    ],
    [
      'all variables of a secret, in an init container',
      {initContainers: [{envFrom: [{secretRef: {name: 's'}}]}]},
      'secrets',
      's',
    ],
    [
      'a variable of an ephemeral container',
      {ephemeralContainers: [{env: [{valueFrom: {secretKeyRef: {name: 's'}}}]}]},
      'secrets',
      's',
    ],
    [
      'a CSI volume',
      {volumes: [{csi: {driver: 'd', nodePublishSecretRef: {name: 's'}}}]},
      'secrets',
      's',
    ],
    ['an Azure share', {volumes: [{azureFile: {secretName: 's'}}]}, 'secrets', 's'],
    ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map(
      (source): [string, object, string, string] => [
        `a ${source} volume`,
        {volumes: [{[source]: {secretRef: {name: 's'}}}]},
        'secrets',
        's',
      ],
    ),
    ['a config map volume', {volumes: [{configMap: {name: 'c'}}]}, 'configmaps', 'c'],
    [
      'a projected config map',
      {volumes: [{projected: {sources: [{configMap: {name: 'c'}}]}}]},
      'configmaps',
      'c',
    ],
    [
      'a variable of a config map',
      {containers: [{env: [{valueFrom: {configMapKeyRef: {name: 'c'}}}]}]},
      'configmaps',
      'c',
    ],
    [
      'all variables of a config map',
      {containers: [{envFrom: [{configMapRef: {name: 'c'}}]}]},
      'configmaps',
      'c',
    ],
    ['a service account', {serviceAccountName: 'a'}, 'serviceaccounts', 'a'],
    ['a claim', withClaim('p'), 'persistentvolumeclaims', 'p'],
    [
      'the claim made for it',
      {volumes: [{name: 'scratch', ephemeral: {}}]},
      'persistentvolumeclaims',
      'one-scratch',
    ],
  ]
  for (const [name, spec, plural, object] of references) {
    it(`leads from ${name} of a pod to its node, and to no other`, () => {
      const graph = new NodeGraph()
      graph.upsertPod(pod('one', 'n1', spec))
      assert.equal(graph.leadsTo('n1', plural, 'app', object), true)
      assert.equal(graph.leadsTo('n2', plural, 'app', object), false)
      assert.equal(graph.leadsTo('n1', plural, 'other', object), false)
    })
  }

  it('leads from the pod itself', () => {
    const graph = new NodeGraph()
    graph.upsertPod(pod('one', 'n1'))
    assert.equal(graph.leadsTo('n1', 'pods', 'app', 'one'), true)
  })

  it('knows nothing of a pod without a node, until it is bound', () => {
    const graph = new NodeGraph()
    graph.upsertPod(pod('one', undefined, withSecret('s')))
    assert.equal(graph.leadsTo('', 'secrets', 'app', 's'), false)
    graph.upsertPod(pod('one', 'n1', withSecret('s')))
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 's'), true)
  })

  it('lets a mirror pod lead to nothing but itself', () => {
    const graph = new NodeGraph()
    const mirror = pod('one', 'n1', withSecret('s'))
    mirror.metadata.annotations = {'kubernetes.io/config.mirror': 'hash'}
    graph.upsertPod(mirror)
    assert.equal(graph.leadsTo('n1', 'pods', 'app', 'one'), true)
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 's'), false)
  })

  it('keeps what a pod that is over refers to, until the pod is gone', () => {
    const graph = new NodeGraph()
    graph.upsertPod({...pod('one', 'n1', withSecret('s')), status: {phase: 'Succeeded'}})
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 's'), true)
    graph.removePod('app', 'one')
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 's'), false)
  })

  it('keeps what a second pod of the node still needs', () => {
    const graph = new NodeGraph()
    graph.upsertPod(pod('one', 'n1', withSecret('s')))
    graph.upsertPod(pod('two', 'n1', withSecret('s')))
    graph.removePod('app', 'one')
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 's'), true)
    graph.removePod('app', 'two')
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 's'), false)
  })

  it('leads from a volume and its secrets by way of the claim, whichever came first', () => {
    const csi = {
      csi: {
        driver: 'd',
        nodeStageSecretRef: {namespace: 'storage', name: 'stage'},
        nodePublishSecretRef: {namespace: 'storage', name: 'publish'},
        controllerPublishSecretRef: {namespace: 'storage', name: 'controller'},
      },
    }
    const steps = [
      (graph: NodeGraph) => graph.upsertPod(pod('one', 'n1', withClaim('data'))),
      (graph: NodeGraph) => graph.upsertVolume(volume('pv', 'data', csi)),
    ]
    for (const order of [steps, [...steps].reverse()]) {
      const graph = new NodeGraph()
      for (const step of order) step(graph)
      assert.equal(graph.leadsTo('n1', 'persistentvolumes', '', 'pv'), true)
      assert.equal(graph.leadsTo('n1', 'secrets', 'storage', 'stage'), true)
      assert.equal(graph.leadsTo('n1', 'secrets', 'storage', 'publish'), true)
      assert.equal(graph.leadsTo('n1', 'secrets', 'storage', 'controller'), false)
      assert.equal(graph.leadsTo('n2', 'persistentvolumes', '', 'pv'), false)
    }
  })

  it("looks for a volume's secret in the claim's namespace where none is named", () => {
    const graph = new NodeGraph()
    graph.upsertPod(pod('one', 'n1', withClaim('data')))
    graph.upsertVolume(volume('pv', 'data', {rbd: {secretRef: {name: 's'}}}))
    graph.upsertVolume(volume('az', 'data', {azureFile: {secretName: 't'}}))
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 's'), true)
    assert.equal(graph.leadsTo('n1', 'secrets', 'app', 't'), true)
  })

  it('leads to a volume whose reference to a secret is stored as null', () => {
    const graph = new NodeGraph()
    graph.upsertPod(pod('a', 'n1', withClaim('data')))
    graph.upsertVolume(volume('pv', 'data', {scaleIO: {secretRef: null}}))
    assert.equal(graph.leadsTo('n1', 'persistentvolumes', '', 'pv'), true)
  })

  it('lets go of a volume that has another claim now', () => {
    const graph = new NodeGraph()
    graph.upsertPod(pod('one', 'n1', withClaim('data')))
    graph.upsertVolume(volume('pv', 'data'))
    graph.upsertVolume(volume('pv', 'other'))
    assert.equal(graph.leadsTo('n1', 'persistentvolumes', '', 'pv'), false)
    graph.upsertVolume(volume('pv', undefined))
    assert.equal(graph.leadsTo('n1', 'persistentvolumes', '', 'pv'), false)
  })

  it('answers after any history as a graph made of what is there now', () => {
    const names = fc.constantFrom('a', 'b')
    const step = fc.oneof(
      fc.record({what: fc.constant('pod'), name: names, node: names, secret: names, claim: names}),
      fc.record({what: fc.constant('no pod'), name: names}),
      fc.record({what: fc.constant('volume'), name: names, claim: names, secret: names}),
      fc.record({what: fc.constant('no volume'), name: names}),
    )
    fc.assert(
      fc.property(fc.array(step, {maxLength: 30}), (steps) => {
        const graph = new NodeGraph()
        const pods = new Map<string, ApiObject>()
        const volumes = new Map<string, ApiObject>()
        for (const made of steps) {
          const {what, name, node, claim, secret} = {node: '', claim: '', secret: '', ...made}
          if (what === 'pod') {
            const volumesOfPod = [{secret: {secretName: secret}}, ...withClaim(claim).volumes]
            const object = pod(name, node, {volumes: volumesOfPod})
            pods.set(name, object)
            graph.upsertPod(object)
          } else if (what === 'no pod') {
            pods.delete(name)
            graph.removePod('app', name)
          } else if (what === 'volume') {
            const object = volume(name, claim, {cephfs: {secretRef: {name: secret}}})
            volumes.set(name, object)
            graph.upsertVolume(object)
          } else {
            volumes.delete(name)
            graph.removeVolume(name)
          }
        }
        const fresh = new NodeGraph()
        for (const object of pods.values()) fresh.upsertPod(object)
        for (const object of volumes.values()) fresh.upsertVolume(object)
        for (const node of ['a', 'b']) {
          for (const name of ['a', 'b']) {
            for (const [plural, namespace] of [
              ['pods', 'app'],
              ['secrets', 'app'],
              ['persistentvolumeclaims', 'app'],
              ['persistentvolumes', ''],
            ] as const) {
              assert.equal(
                graph.leadsTo(node, plural, namespace, name),
                fresh.leadsTo(node, plural, namespace, name),
              )
            }
          }
        }
      }),
    )
  })
})
