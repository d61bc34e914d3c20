import assert from 'node:assert/strict'

import type {ApiObject, ObjectMeta} from '../../../src/api/meta.ts'
import {
  validateFinalizerDomains,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../../src/server/validation/metadata.ts'
import {texts} from '../resources/support.ts'

const inNamespace = {namespaced: true}
const named = (meta: ObjectMeta): ApiObject => ({metadata: {name: 'x', namespace: 'ns', ...meta}})

const refusals: {name: string; meta: ObjectMeta; error: RegExp}[] = [
  {
    name: 'a missing name',
    meta: {name: ''},
    error: /^metadata.name: Required value: name or generateName is required$/,
  },
  {name: 'a wrong name', meta: {name: 'A'}, error: /^metadata.name: Invalid value: "A": a lower/},
  {
    name: 'a wrong generateName',
    meta: {generateName: 'Ab-'},
    error: /^metadata.generateName: Invalid value: "Ab-": a lowercase RFC 1123 subdomain/,
  },
  {
    name: 'a missing namespace',
    meta: {namespace: ''},
    error: /^metadata.namespace: Required value$/,
  },
  {
    name: 'a wrong label key',
    meta: {labels: {'a b': ''}},
    error: /^metadata.labels: Invalid value: "a b": name part must consist/,
  },
  {
    name: 'a wrong label value',
    meta: {labels: {a: '-'}},
    error: /^metadata.labels: Invalid value: "-": a valid label must be/,
  },
  {
    name: 'annotations of more than 256 KiB',
    meta: {annotations: {a: 'x'.repeat(256 * 1024)}},
    error: /^metadata.annotations: Too long: may not be more than 262144 bytes$/,
  },
  {
    name: 'a finalizer without a qualified name',
    meta: {finalizers: ['a b']},
    error: /^metadata.finalizers: Invalid value: "a b": name part/,
  },
  {
    name: 'finalizers that contradict each other',
    meta: {finalizers: ['orphan', 'foregroundDeletion']},
    error: /finalizer orphan and foregroundDeletion cannot be both set$/,
  },
  {
    name: 'an owner without uid',
    meta: {ownerReferences: [{apiVersion: 'v1', kind: 'Pod', name: 'p', uid: ''}]},
    error: /^metadata.ownerReferences.uid: Invalid value: "": must not be empty$/,
  },
  {
    name: 'two owners in control',
    meta: {
      ownerReferences: ['a', 'b'].map((name) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        name,
        uid: name,
        controller: true,
      })),
    },
    error: /Found "true" in references for Pod\/a and Pod\/b$/,
  },
]

describe('metadata of a create', () => {
  it('takes what is right', () => {
    const meta = {labels: {'app.example.com/x': 'y'}, annotations: {'UPPER/case': 'any text'}}
    assert.deepEqual(validateObjectMeta(inNamespace, named(meta)), [])
  })

  it('takes upper case in annotation keys, which labels do not have in their prefix', () => {
    const errors = validateObjectMeta(inNamespace, named({labels: {'UPPER/case': ''}}))
    assert.equal(errors.length, 1)
  })

  for (const {name, meta, error} of refusals) {
    it(`refuses ${name}`, () => {
      const found = texts(validateObjectMeta(inNamespace, named(meta)))
      assert.equal(found.length, 1, found.join('\n'))
      assert.match(found.join(), error)
    })
  }

  it('refuses finalizers without a domain that are not those of Kubernetes', () => {
    const finalizers = ['kubernetes', 'orphan', 'example.com/x', 'mine']
    assert.deepEqual(texts(validateFinalizerDomains(named({finalizers}))), [
      'metadata.finalizers[3]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ])
  })

  it('refuses a namespace on a kind without', () => {
    const found = texts(validateObjectMeta({namespaced: false}, named({})))
    assert.deepEqual(found, ['metadata.namespace: Forbidden: not allowed on this type'])
  })

  it("asks the resource's own rule for names", () => {
    const rule = {namespaced: false, validateName: () => ['is not nice']}
    assert.deepEqual(texts(validateObjectMeta(rule, {metadata: {name: 'x'}})), [
      'metadata.name: Invalid value: "x": is not nice',
    ])
  })
})

describe('metadata of an update', () => {
  const stored = named({uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z'})

  it('may change labels, annotations and finalizers', () => {
    const changed = {...stored.metadata, labels: {a: 'b'}, finalizers: ['example.com/x']}
    assert.deepEqual(validateObjectMetaUpdate({metadata: changed}, stored), [])
  })

  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp']) {
    it(`may not change ${field}`, () => {
      const metadata = {...stored.metadata, [field]: 'other'}
      assert.deepEqual(texts(validateObjectMetaUpdate({metadata}, stored)), [
        `metadata.${field}: Invalid value: "other": field is immutable`,
      ])
    })
  }

  it('may not add a finalizer to what is being deleted', () => {
    const going = named({deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.io/x']})
    const metadata = {...going.metadata, finalizers: ['a.io/x', 'a.io/y']}
    const cause =
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.io/y"}'
    assert.deepEqual(texts(validateObjectMetaUpdate({metadata}, going)), [cause, cause])
  })
})
