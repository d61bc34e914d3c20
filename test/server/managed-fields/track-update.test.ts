import assert from 'node:assert/strict'

import type {ApiObject, ManagedFieldsEntry} from '../../../src/api/meta.ts'
import {fieldSetOf} from '../../../src/server/managed-fields/field-set.ts'
import {managedFieldsToStore} from '../../../src/server/managed-fields/ownership.ts'
import {trackUpdate, type UpdateToTrack} from '../../../src/server/managed-fields/track-update.ts'
import {shapeOf} from '../../../src/server/patch/shape.ts'

const CONFIG_MAP = shapeOf('core/v1.ConfigMap')
const NOON = '2026-01-01T12:00:00Z'
const LATER = '2026-01-01T13:00:00Z'

const configMap = (data: Record<string, string>, metadata: ApiObject['metadata'] = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'cm', namespace: 'ns', ...metadata},
  data,
})

const track = (update: Partial<UpdateToTrack> & {updated: ApiObject}) =>
  trackUpdate({
    shape: CONFIG_MAP,
    manager: 'curl',
    apiVersion: 'v1',
    now: new Date(NOON),
    ...update,
  })

const stored = (object: ApiObject, managedFields: ManagedFieldsEntry[] | undefined): ApiObject => ({
  ...object,
  metadata: {...object.metadata, uid: 'u', ...(managedFields ? {managedFields} : {})},
})

const entry = (
  manager: string,
  fieldsV1: ManagedFieldsEntry['fieldsV1'] & object,
  more: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: NOON,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
})

const create = (object: ApiObject, manager = 'curl') =>
  stored(object, track({updated: object, manager}))

describe('trackUpdate of a create', () => {
  it('gives every field that was sent to the manager, but for what the server keeps', () => {
    const object = configMap({a: '1'}, {labels: {x: 'y'}, finalizers: ['example.com/f']})
    assert.deepEqual(track({updated: object}), [
      entry('curl', {
        'f:data': {'.': {}, 'f:a': {}},
        'f:metadata': {
          'f:finalizers': {'.': {}, 'v:"example.com/f"': {}},
          'f:labels': {'.': {}, 'f:x': {}},
        },
      }),
    ])
  })

  it('leaves an object with no fields of its own untracked, then and later', () => {
    assert.equal(track({updated: configMap({})}), undefined)
    const live = stored(configMap({}), undefined)
    assert.equal(track({live, updated: configMap({a: '1'})}), undefined)
  })

  it('does not own structs that are always there, and owns those that were sent', () => {
    const object = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {user: 'ann', resourceAttributes: {verb: 'get', resource: 'secrets', namespace: 'o'}},
    }
    const shape = shapeOf('authorization/v1.SubjectAccessReview')
    const [only] = track({shape, updated: object, apiVersion: 'authorization.k8s.io/v1'}) ?? []
    assert.deepEqual(only?.fieldsV1, {
      'f:spec': {
        'f:resourceAttributes': {'.': {}, 'f:namespace': {}, 'f:resource': {}, 'f:verb': {}},
        'f:user': {},
      },
    })
  })

  it('names items of lists by all their keys, and what Go fills in', () => {
    const object = {
      metadata: {name: 'p'},
      spec: {containers: [{name: 'c', image: 'i', ports: [{containerPort: 80, protocol: 'TCP'}]}]},
    }
    const [only] = track({shape: shapeOf('core/v1.Pod'), updated: object}) ?? []
    assert.deepEqual(only?.fieldsV1, {
      'f:spec': {
        'f:containers': {
          'k:{"name":"c"}': {
            '.': {},
            'f:image': {},
            'f:name': {},
            'f:ports': {
              '.': {},
              'k:{"containerPort":80,"protocol":"TCP"}': {
                '.': {},
                'f:containerPort': {},
                'f:protocol': {},
              },
            },
            'f:resources': {},
          },
        },
      },
    })
  })

  it('owns the spec of a custom resource itself', () => {
    const shape = shapeOf('machine/v1beta1.Machine', {custom: true})
    const object = {
      apiVersion: 'machine.openshift.io/v1beta1',
      kind: 'Machine',
      metadata: {name: 'm'},
      spec: {providerSpec: {value: {size: {cpus: 2}, disks: ['a']}}},
    }
    const [only] = track({shape, updated: object}) ?? []
    assert.deepEqual(only?.fieldsV1, {
      'f:spec': {
        '.': {},
        'f:providerSpec': {
          '.': {},
          'f:value': {'.': {}, 'f:disks': {}, 'f:size': {'.': {}, 'f:cpus': {}}},
        },
      },
    })
  })

  it('calls a manager without a name unknown', () =>
    assert.equal(track({updated: configMap({a: '1'}), manager: ''})?.[0]?.manager, 'unknown'))
})

describe('trackUpdate of an update', () => {
  const later = {now: new Date(LATER)}

  it('moves changed fields to the manager, and removed ones to nobody', () => {
    const live = create(configMap({a: '1', b: '1', c: '1'}))
    const entries = track({live, updated: configMap({a: '2', b: '1'}), manager: 'two', ...later})
    assert.deepEqual(entries, [
      entry('curl', {'f:data': {'.': {}, 'f:b': {}}}),
      entry('two', {'f:data': {'f:a': {}}}, {time: LATER}),
    ])
  })

  it("moves the manager's time when it changes its own field, and only then", () => {
    const live = create(configMap({a: '1', b: '1'}))
    const changed = track({live, updated: configMap({a: '2', b: '1'}), ...later})
    assert.deepEqual(changed, [
      entry('curl', {'f:data': {'.': {}, 'f:a': {}, 'f:b': {}}}, {time: LATER}),
    ])
    const removed = track({live, updated: configMap({a: '1'}), ...later})
    assert.deepEqual(removed, [entry('curl', {'f:data': {'.': {}, 'f:a': {}}})])
  })

  it('leaves the entries of a write that changes nothing as they are, to the byte', () => {
    const live = create(configMap({a: '1'}))
    const plain = track({live, updated: configMap({a: '1'}), manager: 'two', ...later})
    const echoed = track({live, updated: structuredClone(live), manager: 'two', ...later})
    assert.equal(JSON.stringify(plain), JSON.stringify(live.metadata.managedFields))
    assert.equal(JSON.stringify(echoed), JSON.stringify(live.metadata.managedFields))
  })

  it('keeps an entry of its own for a subresource', () => {
    const shape = shapeOf('core/v1.Node')
    const object = {metadata: {name: 'n'}, spec: {unschedulable: true}}
    const live = stored(object, track({shape, updated: object}))
    const updated = {...object, status: {conditions: [{type: 'Ready', status: 'True'}]}}
    const resetFields = fieldSetOf([['spec']])
    const entries = track({shape, live, updated, subresource: 'status', resetFields, ...later})
    assert.deepEqual(entries?.[1], {
      ...entry('curl', {
        'f:status': {
          'f:conditions': {
            '.': {},
            'k:{"type":"Ready"}': {
              '.': {},
              'f:lastHeartbeatTime': {},
              'f:lastTransitionTime': {},
              'f:status': {},
              'f:type': {},
            },
          },
        },
      }),
      time: LATER,
      subresource: 'status',
    })
    assert.deepEqual(entries[0], live.metadata.managedFields?.[0])
  })

  it('takes nothing for written that the endpoint resets', () => {
    const shape = shapeOf('core/v1.Node')
    const object = {metadata: {name: 'n'}, spec: {unschedulable: true}}
    const live = stored(object, track({shape, updated: object}))
    const updated = {...object, status: {phase: 'Running'}}
    const entries = track({shape, live, updated, resetFields: fieldSetOf([['status']]), ...later})
    assert.deepEqual(entries, live.metadata.managedFields)
  })

  it('takes entries that a client writes, in place of the stored ones', () => {
    const live = create(configMap({a: '1'}))
    const sent = [
      entry('mine', {'f:data': {'f:a': {}}}, {operation: 'Apply'}),
      entry('other', {'f:data': {}}),
    ]
    const updated = configMap({a: '1'}, {managedFields: sent.toReversed()})
    assert.deepEqual(track({live, updated, ...later}), sent)
  })

  for (const reset of [[], [{}]]) {
    it(`drops all owners for ${JSON.stringify(reset)}`, () => {
      const live = create(configMap({a: '1'}))
      const updated = configMap({a: '2'}, {managedFields: reset})
      assert.equal(track({live, updated, ...later}), undefined)
    })
  }

  const malformed: ManagedFieldsEntry[] = [
    {manager: 'x', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {}},
    {manager: 'x', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: {}},
    {manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsV1: {}},
    entry('x', {broken: {}}),
  ]
  for (const sent of malformed) {
    it(`ignores the malformed entry ${JSON.stringify(sent)}`, () => {
      const live = create(configMap({a: '1'}))
      const updated = configMap({a: '1'}, {managedFields: [sent]})
      assert.deepEqual(track({live, updated, ...later}), live.metadata.managedFields)
    })
  }

  it('ignores entries that a client sends to a subresource', () => {
    const live = create(configMap({a: '1'}))
    const updated = configMap({a: '1'}, {managedFields: [{}]})
    assert.deepEqual(
      track({live, updated, subresource: 'status', ...later}),
      live.metadata.managedFields,
    )
  })

  it('keeps the owners of an object that does not fit its schema', () => {
    const shape = shapeOf('core/v1.Pod')
    const object = {metadata: {name: 'p'}, spec: {containers: [{name: 'c', image: 'i'}]}}
    const live = stored(object, track({shape, updated: object}))
    const updated = {metadata: {name: 'p'}, spec: {containers: [{image: 'x'}]}}
    assert.deepEqual(track({shape, live, updated, ...later}), live.metadata.managedFields)
  })

  it('merges the oldest updaters when there are more than ten', () => {
    let live = create(configMap({f0: 'x'}), 'm00')
    const data: Record<string, string> = {f0: 'x'}
    for (let index = 1; index <= 11; index++) {
      data[`f${index}`] = 'x'
      const updated = configMap({...data})
      const manager = `m${String(index).padStart(2, '0')}`
      const now = new Date(Date.parse(NOON) + index * 1000)
      live = stored(updated, track({live, updated, manager, now}))
    }
    const entries = live.metadata.managedFields ?? []
    assert.equal(entries.length, 10)
    assert.deepEqual(
      entries[0],
      entry(
        'ancient-changes',
        {'f:data': {'.': {}, 'f:f0': {}, 'f:f1': {}, 'f:f2': {}}},
        {time: '2026-01-01T12:00:02Z'},
      ),
    )
    assert.equal(entries.at(-1)?.manager, 'm11')
  })

  it('sorts appliers before updaters, then by time and name', () => {
    const sent = [
      entry('c', {'f:data': {'f:c': {}}}),
      entry('b', {'f:data': {'f:b': {}}}),
      entry('d', {'f:data': {'f:d': {}}}, {time: '2025-01-01T00:00:00Z'}),
      entry('e', {'f:data': {'f:e': {}}}, {operation: 'Apply', time: LATER}),
    ]
    const live = create(configMap({a: '1'}))
    const updated = configMap({a: '1'}, {managedFields: sent})
    assert.deepEqual(
      track({live, updated})?.map(({manager}) => manager),
      ['e', 'd', 'b', 'c'],
    )
  })

  it('changes no input', () => {
    const live = create(configMap({a: '1', b: '2'}))
    const updated = {...structuredClone(live), data: {a: '3'}}
    const before = JSON.stringify([live, updated])
    track({live, updated, manager: 'two', ...later})
    assert.equal(JSON.stringify([live, updated]), before)
  })
})

describe('managedFieldsToStore', () => {
  it('gives back the live entries where only times differ', () => {
    const live = create(configMap({a: '1'}))
    const [only] = live.metadata.managedFields ?? []
    const updated = stored(configMap({a: '1'}), [{...only, time: LATER}])
    assert.equal(managedFieldsToStore(live, updated), live.metadata.managedFields)
  })

  it('keeps the new entries where the object or an owner changed', () => {
    const live = create(configMap({a: '1'}))
    const [only] = live.metadata.managedFields ?? []
    const changed = stored(configMap({a: '2'}), [{...only, time: LATER}])
    assert.equal(managedFieldsToStore(live, changed), changed.metadata.managedFields)
    const owned = stored(configMap({a: '1'}), [{...only, manager: 'x'}])
    assert.equal(managedFieldsToStore(live, owned), owned.metadata.managedFields)
  })
})
