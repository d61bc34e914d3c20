import assert from 'node:assert/strict'

import fc from 'fast-check'

import {applyJsonPatch} from '../../../src/server/patch/json-patch.ts'
import {StatusError} from '../../../src/server/kernel/status.ts'

const REJECTED = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'the server rejected our request due to an error in our request',
  reason: 'Invalid',
  details: {},
  code: 422,
}

const statusOf = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    if (error instanceof StatusError) return error.status
    throw error
  }
  return undefined
}

describe('applyJsonPatch', () => {
  const applied: {name: string; document: unknown; patch: unknown[]; result: unknown}[] = [
    {
      name: 'adds a key',
      document: {data: {a: '1'}},
      patch: [{op: 'add', path: '/data/c', value: '3'}],
      result: {data: {a: '1', c: '3'}},
    },
    {
      name: 'inserts into a list',
      document: {list: [1, 3]},
      patch: [{op: 'add', path: '/list/1', value: 2}],
      result: {list: [1, 2, 3]},
    },
    {
      name: 'appends by -',
      document: {list: [1]},
      patch: [{op: 'add', path: '/list/-', value: 2}],
      result: {list: [1, 2]},
    },
    {
      name: 'counts negative indices from the end',
      document: {list: [1, 2, 3]},
      patch: [{op: 'remove', path: '/list/-1'}],
      result: {list: [1, 2]},
    },
    {
      name: 'reads escapes',
      document: {labels: {'a/b': 1, 'c~d': 2}},
      patch: [
        {op: 'replace', path: '/labels/a~1b', value: 3},
        {op: 'remove', path: '/labels/c~0d'},
      ],
      result: {labels: {'a/b': 3}},
    },
    {
      name: 'moves',
      document: {a: {x: 1}, b: {}},
      patch: [{op: 'move', from: '/a/x', path: '/b/y'}],
      result: {a: {}, b: {y: 1}},
    },
    {
      name: 'copies by value',
      document: {a: {x: 1}},
      patch: [
        {op: 'copy', from: '/a', path: '/b'},
        {op: 'replace', path: '/b/x', value: 2},
      ],
      result: {a: {x: 1}, b: {x: 2}},
    },
    {
      name: 'replaces a key that is not there, as evanphx/json-patch does',
      document: {a: 1},
      patch: [{op: 'replace', path: '/b', value: 2}],
      result: {a: 1, b: 2},
    },
    {
      name: 'passes a test of null on a missing key',
      document: {a: 1},
      patch: [{op: 'test', path: '/b', value: null}],
      result: {a: 1},
    },
    {
      name: 'replaces the whole document',
      document: {a: 1},
      patch: [{op: 'replace', path: '', value: {b: 2}}],
      result: {b: 2},
    },
  ]
  for (const {name, document, patch, result} of applied) {
    it(name, () => assert.deepEqual(applyJsonPatch(document, patch), result))
  }

  const refused: {name: string; patch: unknown[]}[] = [
    {name: 'removal of a missing key', patch: [{op: 'remove', path: '/data/zzz'}]},
    {name: 'a test that fails', patch: [{op: 'test', path: '/data/a', value: '9'}]},
    {name: 'a path whose way is missing', patch: [{op: 'add', path: '/none/a', value: 1}]},
    {name: 'a way through a scalar', patch: [{op: 'add', path: '/data/a/b', value: 1}]},
    {name: 'an index past the end', patch: [{op: 'add', path: '/list/9', value: 1}]},
    {name: 'an unknown operation', patch: [{op: 'upsert', path: '/a', value: 1}]},
    {name: 'an operation with no path', patch: [{op: 'add', value: 1}]},
    {name: 'an addition at the root', patch: [{op: 'add', path: '', value: {}}]},
    {name: 'a move of what is not there', patch: [{op: 'move', from: '/data/z', path: '/data/y'}]},
  ]
  for (const {name, patch} of refused) {
    it(`refuses ${name} as Kubernetes does`, () => {
      const status = statusOf(() => applyJsonPatch({data: {a: '1'}, list: [1]}, patch))
      assert.deepEqual(status, REJECTED)
    })
  }

  it('refuses a patch that is no list', () => {
    const status = statusOf(() => applyJsonPatch({}, {op: 'add'}))
    assert.equal(status?.code, 400)
    assert.equal(
      status.message,
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
  })

  it('refuses more than 10,000 operations', () => {
    const patch = Array.from({length: 10_001}, () => ({op: 'test', path: '/a', value: 1}))
    const status = statusOf(() => applyJsonPatch({a: 1}, patch))
    assert.equal(status?.code, 413)
    assert.equal(
      status.message,
      'The allowed maximum operations in a JSON patch is 10000, got 10001',
    )
  })

  it('stops copies that add very many values', () => {
    const patch = Array.from({length: 9000}, (_, number) => ({
      op: 'copy',
      from: '/a',
      path: `/b/${number}`,
    }))
    assert.throws(() => applyJsonPatch({a: {x: 1, y: 2}, b: {}}, patch), {
      code: 413,
      message: 'The copy operations of a JSON patch add more than 25000 values',
    })
  })

  it('stops copies that double a document each', () => {
    const patch = Array.from({length: 40}, () => ({op: 'copy', from: '/a', path: '/a/-'}))
    const status = statusOf(() => applyJsonPatch({a: ['x'.repeat(1000)]}, patch))
    assert.deepEqual(status, REJECTED)
  })

  it('takes __proto__ for a key like any other', () => {
    const patch = JSON.parse(
      '[{"op":"add","path":"/__proto__","value":{"polluted":1}},{"op":"add","path":"/__proto__/more","value":2}]',
    ) as unknown
    const result = applyJsonPatch({}, patch)
    assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":1,"more":2}}')
    assert.equal(({} as {polluted?: number}).polluted, undefined)
    assert.deepEqual(
      statusOf(() =>
        applyJsonPatch({}, [{op: 'add', path: '/constructor/prototype/polluted', value: 1}]),
      ),
      REJECTED,
    )
  })

  it('leaves its inputs as they are', () => {
    const document = {a: {x: [1]}}
    const patch = [
      {op: 'add', path: '/b', value: {y: 1}},
      {op: 'add', path: '/b/z', value: 2},
      {op: 'remove', path: '/a/x/0'},
    ]
    const before = JSON.stringify([document, patch])
    applyJsonPatch(document, patch)
    assert.equal(JSON.stringify([document, patch]), before)
  })

  it('undoes an addition by a removal', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (document, key) => {
        fc.pre(!Object.hasOwn(document, key))
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const result = applyJsonPatch(document, [
          {op: 'add', path, value: 1},
          {op: 'test', path, value: 1},
          {op: 'remove', path},
        ])
        assert.equal(JSON.stringify(result), JSON.stringify(document))
      }),
    )
  })
})
