import assert from 'node:assert/strict'

import {allTypes} from '../../../src/api/schema/index.ts'
import {definitionsOf, listDefinition} from '../../../src/server/openapi/definitions.ts'
import {V2_DIALECT, V3_DIALECT} from '../../../src/server/openapi/dialect.ts'
import type {OpenapiSchema} from '../../../src/server/openapi/dialect.ts'

const POD_SPEC = 'io.k8s.api.core.v1.PodSpec'
const CONTAINER = 'io.k8s.api.core.v1.Container'

/** Every name that schemas refer to, wherever it stands in them. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) =>
    key === '$ref'
      ? [String(part).replace(/^#\/(definitions|components\/schemas)\//, '')]
      : references(part),
  )
}

describe('the definitions of types', () => {
  const v3 = definitionsOf(['core/v1.Pod'], V3_DIALECT)
  const v2 = definitionsOf(['core/v1.Pod'], V2_DIALECT)
  const property = (type: string, field: string, from = v3): OpenapiSchema | undefined =>
    from[type]?.properties?.[field]

  it('hold everything that they refer to, in both versions, for the whole table', () => {
    const names = allTypes().map(({name}) => name)
    for (const dialect of [V2_DIALECT, V3_DIALECT]) {
      const definitions = definitionsOf(names, dialect)
      const missing = references(definitions).filter((name) => definitions[name] === undefined)
      assert.deepEqual(missing, [])
    }
  })

  it('tell a kind by its group and version', () => {
    assert.deepEqual(v3['io.k8s.api.core.v1.Pod']?.['x-kubernetes-group-version-kind'], [
      {group: '', version: 'v1', kind: 'Pod'},
    ])
    assert.equal(v3[POD_SPEC]?.['x-kubernetes-group-version-kind'], undefined)
  })

  it('refer by allOf in v3 and by $ref in v2', () => {
    assert.deepEqual(property('io.k8s.api.core.v1.Pod', 'spec')?.allOf, [
      {$ref: `#/components/schemas/${POD_SPEC}`},
    ])
    assert.equal(property('io.k8s.api.core.v1.Pod', 'spec', v2)?.$ref, `#/definitions/${POD_SPEC}`)
  })

  it('carry the keys by which lists are merged', () => {
    const containers = property(POD_SPEC, 'containers')
    assert.equal(containers?.type, 'array')
    assert.equal(containers['x-kubernetes-patch-strategy'], 'merge')
    assert.equal(containers['x-kubernetes-patch-merge-key'], 'name')
    assert.equal(containers['x-kubernetes-list-type'], 'map')
    assert.deepEqual(containers['x-kubernetes-list-map-keys'], ['name'])
    assert.equal(property(POD_SPEC, 'volumes')?.['x-kubernetes-patch-strategy'], 'merge,retainKeys')
  })

  it('say what server-side apply takes as a whole', () => {
    assert.equal(property(POD_SPEC, 'nodeSelector')?.['x-kubernetes-map-type'], 'atomic')
    assert.equal(property(CONTAINER, 'args')?.['x-kubernetes-list-type'], 'atomic')
  })

  it('list the required fields', () => {
    assert.ok(v3[CONTAINER]?.required?.includes('name'))
  })

  it('write numbers or texts as each version can', () => {
    const name = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'
    assert.deepEqual(v3[name]?.oneOf, [{type: 'integer'}, {type: 'string'}])
    assert.equal(v2[name]?.type, 'string')
    assert.equal(v2[name].format, 'int-or-string')
  })
})

describe('the definition of a list', () => {
  it('has items of its kind', () => {
    const list = listDefinition('rbac/v1.Role', V2_DIALECT)
    assert.deepEqual(list.properties?.items?.items, {
      $ref: '#/definitions/io.k8s.api.rbac.v1.Role',
    })
    assert.deepEqual(list['x-kubernetes-group-version-kind'], [
      {group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleList'},
    ])
  })
})
