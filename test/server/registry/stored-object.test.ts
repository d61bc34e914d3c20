import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {ApiObject} from '../../../src/api/meta.ts'
import {fromEntry, parse, toStored, withKind} from '../../../src/server/registry/stored-object.ts'
import {RESOURCES} from '../../../src/server/resources/index.ts'

const resource = RESOURCES.find(({plural}) => plural === 'configmaps')!
const PREFIX = '/registry/core/configmaps/'

const stored = (object: ApiObject, revision: number) =>
  fromEntry(
    resource,
    {
      key: `${PREFIX}${object.metadata.namespace}/${object.metadata.name}`,
      value: Buffer.from(toStored(object)),
      revision,
      created: 1,
    },
    PREFIX,
  )

describe('a stored object', () => {
  it('comes back as it was, with the revision of its write, whatever text it holds', () => {
    const texts = fc.dictionary(fc.string(), fc.string())
    fc.assert(
      fc.property(texts, texts, fc.integer({min: 1}), (data, annotations, revision) => {
        const metadata = {name: 'a', namespace: 'n', uid: 'u', annotations}
        const object = {kind: 'ConfigMap', apiVersion: 'v1', metadata, data}
        const {kind: _kind, apiVersion: _apiVersion, ...rest} = structuredClone(object)
        assert.deepEqual(parse(stored(object, revision)), {
          ...rest,
          metadata: {...rest.metadata, resourceVersion: String(revision)},
        })
      }),
    )
  })

  it('is shown deleted with the revision of the deletion, even if its data looks like a revision', () => {
    const data = {a: '"resourceVersion":"7"'}
    const object = stored({metadata: {name: 'a', namespace: 'n'}, data}, 7)
    const gone = parse(object.atRevision(9))
    assert.equal(gone.metadata.resourceVersion, '9')
    assert.deepEqual(gone.data, data)
  })

  it('carries kind and apiVersion when it stands alone', () => {
    const object = stored({metadata: {name: 'a', namespace: 'n'}}, 7)
    const alone = JSON.parse(withKind(object.json, 'ConfigMap', 'v1')) as ApiObject
    assert.deepEqual([alone.kind, alone.apiVersion, alone.metadata.name], ['ConfigMap', 'v1', 'a'])
  })

  it('shows selectors its labels and the fields of its kind, also once it is deleted', () => {
    const pods = RESOURCES.find(({plural}) => plural === 'pods')!
    const metadata = {name: 'a', namespace: 'n', labels: {app: 'x'}}
    const value = Buffer.from(toStored({metadata, spec: {nodeName: 'node-1'}}))
    const pod = fromEntry(pods, {key: '/pods/n/a', value, revision: 3, created: 3}, '/pods/')
    for (const one of [pod, pod.atRevision(4)]) {
      assert.deepEqual(one.labels, {app: 'x'})
      assert.equal(one.fields['spec.nodeName'], 'node-1')
    }
  })

  it('knows its namespace and name from its key', () => {
    const {namespace, name, key} = stored({metadata: {name: 'a', namespace: 'n'}}, 1)
    assert.deepEqual({namespace, name, key}, {namespace: 'n', name: 'a', key: 'n/a'})
  })
})
