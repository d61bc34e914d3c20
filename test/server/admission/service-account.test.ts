import assert from 'node:assert/strict'
import type {ApiObject} from '../../../src/api/meta.ts'
import {serviceAccountAdmission} from '../../../src/server/admission/service-account.ts'
import {admit} from './support.ts'

const PATH = '/var/run/secrets/kubernetes.io/serviceaccount'

interface SeenPod {
  spec: {
    serviceAccountName?: string
    serviceAccount?: string
    imagePullSecrets?: unknown[]
    volumes?: {name: string; projected?: unknown}[]
    containers: {volumeMounts?: object[]}[]
    initContainers?: {volumeMounts?: object[]}[]
  }
}

const pod = (spec: object = {}, annotations: Record<string, string> = {}): ApiObject => ({
  metadata: {name: 'p', annotations},
  spec: {containers: [{name: 'c'}], ...spec},
})

async function create(object: ApiObject, account: object = {}): Promise<SeenPod> {
  const situation = {
    namespace: 'a',
    objects: {
      'serviceaccounts/a/default': {metadata: {}, ...account},
      'serviceaccounts/a/robot': {metadata: {}, ...account},
    },
  }
  const seen = await admit(serviceAccountAdmission, {resource: 'pods', object}, situation)
  return seen as unknown as SeenPod
}

describe('ServiceAccount admission', () => {
  it('gives a pod the default account, and a token in every container', async () => {
    const {spec} = await create(pod({initContainers: [{name: 'i'}]}))
    const [volume] = spec.volumes ?? []
    assert.equal(spec.serviceAccountName, 'default')
    assert.equal(spec.serviceAccount, 'default')
    assert.match(volume?.name ?? '', /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.deepEqual(volume?.projected, {
      sources: [
        {serviceAccountToken: {expirationSeconds: 3607, path: 'token'}},
        {configMap: {name: 'kube-root-ca.crt', items: [{key: 'ca.crt', path: 'ca.crt'}]}},
        {
          downwardAPI: {
            items: [
              {path: 'namespace', fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.namespace'}},
            ],
          },
        },
      ],
      defaultMode: 420,
    })
    for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
      assert.deepEqual(container.volumeMounts, [
        {name: volume?.name, readOnly: true, mountPath: PATH},
      ])
    }
  })

  const declined: [string, object, object, number][] = [
    ['nobody declines', {}, {}, 1],
    ['the account declines', {}, {automountServiceAccountToken: false}, 0],
    ['the pod declines', {automountServiceAccountToken: false}, {}, 0],
    [
      'the pod wants what the account declines',
      {automountServiceAccountToken: true},
      {automountServiceAccountToken: false},
      1,
    ],
  ]
  for (const [name, spec, account, volumes] of declined) {
    it(`adds ${volumes} volumes where ${name}`, async () => {
      assert.equal((await create(pod(spec), account)).spec.volumes?.length ?? 0, volumes)
    })
  }

  it('leaves a container alone that mounts something there', async () => {
    const mount = {name: 'mine', mountPath: PATH}
    const {spec} = await create(pod({containers: [{name: 'c', volumeMounts: [mount]}]}))
    assert.deepEqual(spec.containers[0]?.volumeMounts, [mount])
    assert.equal(spec.volumes, undefined)
  })

  it('uses the token volume that is there', async () => {
    const {spec} = await create(pod({volumes: [{name: 'kube-api-access-mine'}]}))
    assert.equal(spec.volumes?.length, 1)
    assert.deepEqual(spec.containers[0]?.volumeMounts, [
      {name: 'kube-api-access-mine', readOnly: true, mountPath: PATH},
    ])
  })

  it('takes the account’s pull secrets where the pod has none', async () => {
    const account = {imagePullSecrets: [{name: 'pull'}]}
    assert.deepEqual((await create(pod(), account)).spec.imagePullSecrets, [{name: 'pull'}])
    const own = [{name: 'own'}]
    assert.deepEqual(
      (await create(pod({imagePullSecrets: own}), account)).spec.imagePullSecrets,
      own,
    )
  })

  it('reads the old name of the field too', async () => {
    const {spec} = await create(pod({serviceAccount: 'robot'}))
    assert.equal(spec.serviceAccountName, 'robot')
  })

  it('refuses an account that is not there', async () => {
    await assert.rejects(create(pod({serviceAccountName: 'gone'})), {
      code: 403,
      message:
        'pods "p" is forbidden: error looking up service account a/gone: serviceaccount "gone" not found',
    })
  })

  const mirrors: [string, object, RegExp][] = [
    ['an account', {serviceAccountName: 'default'}, /may not reference service accounts/],
    [
      'a secret volume',
      {volumes: [{name: 'v', secret: {secretName: 's'}}]},
      /may not reference secrets/,
    ],
    [
      'a secret in its environment',
      {containers: [{name: 'c', env: [{name: 'E', valueFrom: {secretKeyRef: {name: 's'}}}]}]},
      /may not reference secrets/,
    ],
    [
      'a token',
      {volumes: [{name: 'v', projected: {sources: [{serviceAccountToken: {}}]}}]},
      /may not use ServiceAccountToken/,
    ],
  ]
  for (const [name, spec, message] of mirrors) {
    it(`refuses a mirror pod that uses ${name}`, async () => {
      const mirror = pod(spec, {'kubernetes.io/config.mirror': 'x'})
      await assert.rejects(create(mirror), {code: 403, message})
    })
  }

  it('does not change a mirror pod', async () => {
    const mirror = pod({}, {'kubernetes.io/config.mirror': 'x'})
    assert.deepEqual(await create(structuredClone(mirror)), mirror)
  })
})
