import assert from 'node:assert/strict'

import fc from 'fast-check'

import type {JsonObject} from '../../../src/server/kernel/json-value.ts'
import {shapeOf} from '../../../src/server/patch/shape.ts'
import {applyStrategicMergePatch} from '../../../src/server/patch/strategic-merge.ts'

const POD = shapeOf('core/v1.Pod')
const NODE = shapeOf('core/v1.Node')
const CONFIG_MAP = shapeOf('core/v1.ConfigMap')

const pod = (containers: unknown[]): JsonObject => ({spec: {containers}})
const finalizers = (...names: string[]): JsonObject => ({metadata: {finalizers: names}})

describe('applyStrategicMergePatch', () => {
  it('merges maps key by key, and null deletes', () => {
    const result = applyStrategicMergePatch(
      {data: {a: '1', b: '2'}},
      {data: {a: null, c: '3', d: null}},
      CONFIG_MAP,
    )
    assert.deepEqual(result, {data: {b: '2', c: '3'}})
  })

  it('merges the items of a keyed list', () => {
    const live = pod([
      {name: 'a', image: '1', env: [{name: 'X', value: '1'}]},
      {name: 'b', image: '1'},
    ])
    const patch = pod([{name: 'a', image: '2', env: [{name: 'Y', value: '2'}]}])
    assert.deepEqual(
      applyStrategicMergePatch(live, patch, POD),
      pod([
        {
          name: 'a',
          image: '2',
          env: [
            {name: 'Y', value: '2'},
            {name: 'X', value: '1'},
          ],
        },
        {name: 'b', image: '1'},
      ]),
    )
  })

  it('puts new items in front, as Kubernetes does', () => {
    const result = applyStrategicMergePatch(pod([{name: 'a'}]), pod([{name: 'b'}]), POD)
    assert.deepEqual(result, pod([{name: 'b'}, {name: 'a'}]))
  })

  it('updates one condition of a node and keeps the others', () => {
    const live = {
      status: {
        conditions: [
          {type: 'Ready', status: 'True'},
          {type: 'DiskPressure', status: 'False'},
        ],
      },
    }
    const patch = {status: {conditions: [{type: 'Ready', status: 'False', reason: 'r'}]}}
    assert.deepEqual(applyStrategicMergePatch(live, patch, NODE), {
      status: {
        conditions: [
          {type: 'Ready', status: 'False', reason: 'r'},
          {type: 'DiskPressure', status: 'False'},
        ],
      },
    })
  })

  it("replaces a whole list by an element of $patch replace, as a node's addresses", () => {
    const live = {status: {addresses: [{type: 'InternalIP', address: '192.0.2.1'}]}}
    const patch = {
      status: {addresses: [{type: 'Hostname', address: 'n'}, {$patch: 'replace'}]},
    }
    assert.deepEqual(applyStrategicMergePatch(live, patch, NODE), {
      status: {addresses: [{type: 'Hostname', address: 'n'}]},
    })
  })

  it('replaces lists that have no merge key', () => {
    const live = {spec: {taints: [{key: 'a', effect: 'NoSchedule'}]}}
    const patch = {spec: {taints: [{key: 'b', effect: 'NoExecute'}]}}
    assert.deepEqual(applyStrategicMergePatch(live, patch, NODE), patch)
  })

  it('deletes an item by $patch delete', () => {
    const live = pod([{name: 'a'}, {name: 'b'}])
    const patch = pod([{name: 'a', $patch: 'delete'}])
    assert.deepEqual(applyStrategicMergePatch(live, patch, POD), pod([{name: 'b'}]))
  })

  it('replaces and empties maps by $patch', () => {
    const live = {metadata: {labels: {a: '1'}, annotations: {b: '1'}}}
    const patch = {
      metadata: {labels: {$patch: 'replace', c: '2'}, annotations: {$patch: 'delete'}},
    }
    assert.deepEqual(applyStrategicMergePatch(live, patch, CONFIG_MAP), {
      metadata: {labels: {c: '2'}, annotations: {}},
    })
  })

  it('keeps only the keys that $retainKeys names', () => {
    const live = {spec: {volumes: [{name: 'v', emptyDir: {}}]}}
    const patch = {
      spec: {volumes: [{name: 'v', hostPath: {path: '/'}, $retainKeys: ['name', 'hostPath']}]},
    }
    assert.deepEqual(applyStrategicMergePatch(live, patch, POD), {
      spec: {volumes: [{name: 'v', hostPath: {path: '/'}}]},
    })
  })

  it('merges primitives as a set, and deletes from it by a parallel list', () => {
    const merged = applyStrategicMergePatch(finalizers('a', 'b'), finalizers('b', 'c'), CONFIG_MAP)
    assert.deepEqual(merged, finalizers('a', 'b', 'c'))
    const patch = {metadata: {'$deleteFromPrimitiveList/finalizers': ['a']}}
    assert.deepEqual(applyStrategicMergePatch(merged, patch, CONFIG_MAP), finalizers('b', 'c'))
  })

  it('orders items by $setElementOrder and keeps the server’s own where they stood', () => {
    const live = pod([{name: 'a'}, {name: 'server'}, {name: 'b'}])
    const patch = {
      spec: {
        '$setElementOrder/containers': [{name: 'c'}, {name: 'b'}, {name: 'a'}],
        containers: [{name: 'c', image: 'x'}],
      },
    }
    assert.deepEqual(
      applyStrategicMergePatch(live, patch, POD),
      pod([{name: 'c', image: 'x'}, {name: 'server'}, {name: 'b'}, {name: 'a'}]),
    )
  })

  it('reorders without a change of content', () => {
    const patch = {metadata: {'$setElementOrder/finalizers': ['b', 'a']}}
    assert.deepEqual(
      applyStrategicMergePatch(finalizers('a', 'b'), patch, CONFIG_MAP),
      finalizers('b', 'a'),
    )
  })

  it('drops directives and nulls from what it adds whole', () => {
    const patch = pod([{name: 'a', image: null}, {$patch: 'replace'}])
    assert.deepEqual(applyStrategicMergePatch({spec: {}}, patch, POD), pod([{name: 'a'}]))
  })

  const refused: {name: string; patch: JsonObject; code: number; message: string}[] = [
    {
      name: 'an item with no merge key',
      patch: pod([{image: 'x'}]),
      code: 500,
      message: 'map: map[image:x] does not contain declared merge key: name',
    },
    {
      name: 'an unknown directive',
      patch: {metadata: {labels: {$patch: 'merge', a: 'b'}}},
      code: 500,
      message: 'unknown patch type: merge in map: map[$patch:merge a:b]',
    },
    {
      name: 'a merge directive in a list',
      patch: pod([{$patch: 'merge'}]),
      code: 500,
      message: 'merging lists cannot yet be specified in the patch',
    },
    {
      name: '$retainKeys that is no list',
      patch: {metadata: {$retainKeys: 'x'}},
      code: 400,
      message: 'invalid patch format of retainKeys',
    },
    {
      name: 'a key that $retainKeys does not name',
      patch: {metadata: {$retainKeys: ['name'], labels: {}}},
      code: 422,
      message: 'the server rejected our request due to an error in our request',
    },
    {
      name: 'an order directive with no field',
      patch: {metadata: {$setElementOrder: []}},
      code: 400,
      message: 'invalid patch format of setElementOrder list',
    },
    {
      name: 'items that the order does not name',
      patch: {
        spec: {
          '$setElementOrder/containers': [{name: 'a'}],
          containers: [{name: 'b'}],
        },
      },
      code: 500,
      message:
        "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    },
  ]
  for (const {name, patch, code, message} of refused) {
    it(`refuses ${name}`, () => {
      const live = {metadata: {labels: {a: '1'}}, ...pod([{name: 'a'}])}
      assert.throws(() => applyStrategicMergePatch(live, patch, POD), {code, message})
    })
  }

  it('reaches the wanted list of containers by a patch as kubectl makes it', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'))
    fc.assert(
      fc.property(names, names, (before, after) => {
        const live = pod(before.map((name) => ({name, image: 'old'})))
        const wanted = pod(after.map((name) => ({name, image: 'new'})))
        const patch = {
          spec: {
            '$setElementOrder/containers': after.map((name) => ({name})),
            containers: [
              ...after.map((name) => ({name, image: 'new'})),
              ...before
                .filter((name) => !after.includes(name))
                .map((name) => ({name, $patch: 'delete'})),
            ],
          },
        }
        const inputs = JSON.stringify([live, patch])
        assert.deepEqual(applyStrategicMergePatch(live, patch, POD), wanted)
        assert.equal(JSON.stringify([live, patch]), inputs)
      }),
    )
  })
})
