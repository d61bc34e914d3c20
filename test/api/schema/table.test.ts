import assert from 'node:assert/strict'
import {allTypes, findKind, findType, openApiName} from '../../../src/api/schema/index.ts'

const field = (type: string, name: string) => {
  const found = findType(type).byName.get(name)
  assert.ok(found, `${type} has no ${name}`)
  return found
}

describe('the schema table', () => {
  it('refers only to types that it has', () => {
    for (const type of allTypes()) {
      for (const {scalar, type: target} of type.fields) {
        if (!scalar) assert.doesNotThrow(() => findType(target), `${type.name} → ${target}`)
      }
    }
  })

  it('gives every field of a message a number and a name of its own', () => {
    for (const {name, fields, byNumber, byName, object} of allTypes()) {
      const numbered = fields.filter(({number}) => number > 0)
      assert.equal(byNumber.size, numbered.length, name)
      assert.equal(numbered.length, fields.length - (object ? 2 : 0), name)
      assert.equal(byName.has('(inline)'), false, name)
    }
  })

  it('describes every type and field by a sentence', () => {
    for (const {name, description, byName} of allTypes()) {
      assert.match(description, /^[A-Z].*\.$/, name)
      for (const inner of byName.values()) {
        assert.match(inner.description, /^[A-Z].*\.$/, `${name}.${inner.name}`)
      }
    }
  })

  it('merges keyed lists by keys that their elements have', () => {
    for (const {name, byName} of allTypes()) {
      for (const {name: inner, list, type} of byName.values()) {
        for (const key of list?.type === 'map' ? list.keys : []) {
          assert.ok(findType(type).byName.has(key), `${name}.${inner} by ${key}`)
        }
      }
    }
  })

  it('puts the fields of inlined messages into the parent, in place', () => {
    const names = [...findType('core/v1.PersistentVolumeSpec').byName.keys()]
    assert.deepEqual(names.slice(0, 3), ['capacity', 'gcePersistentDisk', 'awsElasticBlockStore'])
    assert.equal(field('core/v1.Volume', 'emptyDir').number, 2)
  })

  it('begins objects with kind and apiVersion, which have no number', () => {
    const names = findType('core/v1.ConfigMap').fields.map(({name, number}) => [name, number])
    assert.deepEqual(names.slice(0, 3), [
      ['kind', 0],
      ['apiVersion', 0],
      ['metadata', 1],
    ])
  })

  const lists: [type: string, name: string, expected: unknown][] = [
    ['core/v1.PodSpec', 'containers', {type: 'map', keys: ['name']}],
    ['core/v1.Container', 'ports', {type: 'map', keys: ['containerPort', 'protocol']}],
    ['core/v1.ServiceSpec', 'ports', {type: 'map', keys: ['port', 'protocol']}],
    [
      'core/v1.PodSpec',
      'topologySpreadConstraints',
      {type: 'map', keys: ['topologyKey', 'whenUnsatisfiable']},
    ],
    ['core/v1.NodeStatus', 'conditions', {type: 'map', keys: ['type']}],
    ['core/v1.NodeSpec', 'taints', {type: 'atomic'}],
    ['core/v1.NodeSpec', 'podCIDRs', {type: 'set'}],
    ['core/v1.PodStatus', 'hostIPs', {type: 'atomic'}],
    ['core/v1.PodStatus', 'podIPs', {type: 'map', keys: ['ip']}],
    ['meta/v1.ObjectMeta', 'finalizers', {type: 'set'}],
    ['meta/v1.ObjectMeta', 'ownerReferences', {type: 'map', keys: ['uid']}],
    [
      'certificates/v1.CertificateSigningRequestStatus',
      'conditions',
      {type: 'map', keys: ['type']},
    ],
    ['rbac/v1.Role', 'rules', {type: 'atomic'}],
  ]
  for (const [type, name, expected] of lists) {
    it(`lets server-side apply treat ${type}.${name} as Kubernetes does`, () => {
      assert.deepEqual(field(type, name).list, expected)
    })
  }

  it('takes references and selectors as a whole, but for the one that Kubernetes splits', () => {
    assert.equal(field('core/v1.Binding', 'target').atomic, true)
    assert.equal(field('core/v1.PodAffinityTerm', 'labelSelector').atomic, true)
    assert.equal(field('core/v1.PodSpec', 'nodeSelector').atomic, true)
    assert.equal(field('core/v1.PersistentVolumeSpec', 'claimRef').atomic, false)
    assert.equal(field('core/v1.ConfigMap', 'data').atomic, false)
  })

  it('keeps the merge keys of strategic merge', () => {
    assert.deepEqual(field('core/v1.PodSpec', 'volumes').patch, {
      merge: true,
      key: 'name',
      retainKeys: true,
    })
    assert.deepEqual(field('core/v1.Container', 'ports').patch, {
      merge: true,
      key: 'containerPort',
      retainKeys: false,
    })
    assert.deepEqual(field('meta/v1.ObjectMeta', 'finalizers').patch, {
      merge: true,
      retainKeys: false,
    })
    assert.equal(field('core/v1.NodeSpec', 'taints').patch, undefined)
  })

  it('finds a kind by its group and version', () => {
    assert.equal(findKind('', 'v1', 'Secret')?.name, 'core/v1.Secret')
    assert.equal(findKind('rbac.authorization.k8s.io', 'v1', 'Role')?.name, 'rbac/v1.Role')
    assert.equal(findKind('', 'v1', 'PodSpec'), undefined)
    assert.equal(findKind('apps', 'v1', 'Deployment'), undefined)
  })

  it('names definitions as the OpenAPI documents do', () => {
    assert.equal(openApiName('core/v1.ConfigMap'), 'io.k8s.api.core.v1.ConfigMap')
    assert.equal(
      openApiName('meta/v1.ObjectMeta'),
      'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    )
    assert.equal(openApiName('machine/v1beta1.Machine'), 'io.openshift.machine.v1beta1.Machine')
  })
})
