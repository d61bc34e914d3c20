import assert from 'node:assert/strict'

import fc from 'fast-check'

import type {ApiObject} from '../../../src/api/meta.ts'
import {apply, type ApplyRequest} from '../../../src/server/managed-fields/apply.ts'
import {fieldSetOf} from '../../../src/server/managed-fields/field-set.ts'
import {LAST_APPLIED} from '../../../src/server/managed-fields/configured-fields.ts'
import {trackUpdate} from '../../../src/server/managed-fields/track-update.ts'
import type {JsonObject} from '../../../src/server/kernel/json-value.ts'
import {shapeOf} from '../../../src/server/patch/shape.ts'

const CONFIG_MAP = shapeOf('core/v1.ConfigMap')
const POD = shapeOf('core/v1.Pod')
const NOON = new Date('2026-01-01T12:00:00Z')
const LATER = new Date('2026-01-01T13:00:00Z')

const configMap = (data: JsonObject | undefined, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'ssa', ...metadata},
  ...(data === undefined ? {} : {data}),
})

const pod = (containers: unknown[], spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'ssa'},
  spec: {containers, ...spec},
})

type Options = Partial<ApplyRequest> & Pick<ApplyRequest, 'applied'>

const applyAs = (manager: string, options: Options) => {
  const {applied} = options
  return apply({
    shape: applied.kind === 'Pod' ? POD : CONFIG_MAP,
    kind: applied.kind === 'Pod' ? 'Pod' : 'ConfigMap',
    manager,
    apiVersion: 'v1',
    now: NOON,
    force: false,
    ...options,
  }).object
}

const updateAs = (manager: string, live: ApiObject, change: Partial<ApiObject>): ApiObject => {
  const updated = {...structuredClone(live), ...change}
  const shape = live.kind === 'Pod' ? POD : CONFIG_MAP
  const managedFields = trackUpdate({shape, live, updated, manager, apiVersion: 'v1', now: NOON})
  return {...updated, metadata: {...updated.metadata, ...(managedFields && {managedFields})}}
}

const owners = ({metadata}: ApiObject) => {
  const entries = metadata.managedFields ?? []
  return Object.fromEntries(entries.map(({manager = '', fieldsV1 = {}}) => [manager, fieldsV1]))
}

describe('apply', () => {
  it('creates an object that the applier owns', () => {
    const created = applyAs('one', {applied: configMap({a: '1', b: '1'})})
    assert.deepEqual(created, {
      ...configMap({a: '1', b: '1'}),
      metadata: {
        name: 'ssa',
        managedFields: [
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            time: '2026-01-01T12:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:data': {'f:a': {}, 'f:b': {}}},
          },
        ],
      },
    })
  })

  const live = applyAs('one', {applied: configMap({a: '1', b: '1'})})

  it('refuses to change what another applier owns', () => {
    assert.throws(() => applyAs('two', {live, applied: configMap({a: '2'})}), {
      status: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        reason: 'Conflict',
        details: {
          causes: [
            {reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a'},
          ],
        },
        code: 409,
      },
    })
  })

  it('lists all conflicts by their managers', () => {
    const mixed = updateAs('curl', live, {data: {a: '1', b: '1', c: '1'}})
    assert.throws(
      () => applyAs('two', {live: mixed, applied: configMap({a: '2', b: '2', c: '2'})}),
      {
        message:
          'Apply failed with 3 conflicts: conflicts with "curl" using v1:\n- .data.c\nconflicts with "one":\n- .data.a\n- .data.b',
      },
    )
  })

  it('names the subresource that an owner wrote by', () => {
    const updated = {...live, data: {a: '5', b: '1'}}
    const managedFields = trackUpdate({
      shape: CONFIG_MAP,
      live,
      updated,
      manager: 'kubelet',
      apiVersion: 'v1',
      subresource: 'status',
      now: NOON,
    })
    const byStatus = {
      ...updated,
      metadata: {...updated.metadata, ...(managedFields && {managedFields})},
    }
    assert.throws(() => applyAs('two', {live: byStatus, applied: configMap({a: '2'})}), {
      message:
        'Apply failed with 1 conflict: conflict with "kubelet" with subresource "status" using v1: .data.a',
    })
  })

  it('takes fields from their owner by force, and gives them back to nobody', () => {
    const forced = applyAs('two', {live, applied: configMap({a: '2'}), force: true, now: LATER})
    assert.deepEqual(forced.data, {a: '2', b: '1'})
    assert.deepEqual(owners(forced), {
      one: {'f:data': {'f:b': {}}},
      two: {'f:data': {'f:a': {}}},
    })
    const again = applyAs('one', {live: forced, applied: configMap({b: '3'})})
    assert.deepEqual(again.data, {a: '2', b: '3'})
    assert.deepEqual(owners(again), owners(forced))
  })

  it('owns equal values together, and removes them when the last owner lets go', () => {
    const shared = applyAs('two', {live, applied: configMap({a: '1'})})
    assert.deepEqual(owners(shared), {
      one: {'f:data': {'f:a': {}, 'f:b': {}}},
      two: {'f:data': {'f:a': {}}},
    })
    const left = applyAs('one', {live: shared, applied: configMap({b: '1'})})
    assert.deepEqual(left.data, {a: '1', b: '1'})
    const gone = applyAs('two', {live: left, applied: configMap(undefined)})
    assert.deepEqual(gone.data, {b: '1'})
  })

  it('removes a map when nothing of it is left', () => {
    const emptied = applyAs('one', {live, applied: configMap(undefined)})
    assert.deepEqual(emptied, {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'ssa'}})
  })

  it('keeps what an updater owns when an applier lets go of it', () => {
    const updated = updateAs('curl', live, {data: {a: '9', b: '1'}})
    const applied = applyAs('one', {live: updated, applied: configMap({b: '1'})})
    assert.deepEqual(applied.data, {a: '9', b: '1'})
  })

  it('keeps metadata that the server set', () => {
    const labelled = applyAs('one', {applied: configMap({}, {labels: {x: 'y'}})})
    const withUid = {...labelled, metadata: {...labelled.metadata, uid: 'u', resourceVersion: '7'}}
    const {metadata} = applyAs('one', {live: withUid, applied: configMap({a: '1'})})
    assert.equal(metadata.uid, 'u')
    assert.equal(metadata.resourceVersion, '7')
    assert.equal(metadata.labels, undefined)
  })

  it('carries a resourceVersion of the configuration, for the server to compare', () => {
    const withVersion = {...live, metadata: {...live.metadata, resourceVersion: '7'}}
    const applied = configMap({a: '1'}, {resourceVersion: '6'})
    assert.equal(applyAs('one', {live: withVersion, applied}).metadata.resourceVersion, '6')
  })

  it('merges lists by their keys, in the applied order, with others’ items where they stood', () => {
    const first = applyAs('one', {
      applied: pod([
        {name: 'a', image: '1'},
        {name: 'b', image: '1'},
      ]),
    })
    const injected = updateAs('injector', first, {
      spec: {
        containers: [
          {name: 'a', image: '1'},
          {name: 'side', image: 's'},
          {name: 'b', image: '1'},
        ],
      },
    })
    const reordered = pod([
      {name: 'b', image: '2'},
      {name: 'a', image: '1'},
    ])
    const second = applyAs('one', {live: injected, applied: reordered})
    assert.deepEqual(second.spec, {
      containers: [
        {name: 'side', image: 's'},
        {name: 'b', image: '2'},
        {name: 'a', image: '1'},
      ],
    })
  })

  it('removes an item that is not applied any more, and keeps others’ fields of one that is', () => {
    const first = applyAs('one', {
      applied: pod([
        {name: 'a', image: '1'},
        {name: 'b', image: '1'},
      ]),
    })
    const updated = updateAs('curl', first, {
      spec: {
        containers: [
          {name: 'a', image: '1', workingDir: '/'},
          {name: 'b', image: '1'},
        ],
      },
    })
    const second = applyAs('one', {live: updated, applied: pod([{name: 'a', image: '2'}])})
    assert.deepEqual(second.spec, {containers: [{name: 'a', image: '2', workingDir: '/'}]})
  })

  it('takes TCP for the protocol of a port that names none', () => {
    const first = applyAs('one', {
      applied: pod([{name: 'a', ports: [{containerPort: 80, name: 'web'}]}]),
    })
    const spec = {
      containers: [{name: 'a', ports: [{containerPort: 80, name: 'web', protocol: 'TCP'}]}],
    }
    const defaulted = {...first, spec}
    const second = applyAs('one', {
      live: defaulted,
      applied: pod([{name: 'a', ports: [{containerPort: 80, name: 'http'}]}]),
    })
    assert.deepEqual(second.spec, {
      containers: [{name: 'a', ports: [{containerPort: 80, name: 'http', protocol: 'TCP'}]}],
    })
  })

  it('owns nothing that the endpoint resets', () => {
    const applied = configMap({a: '1'}, {labels: {x: 'y'}})
    const created = applyAs('one', {applied, resetFields: fieldSetOf([['data']])})
    assert.deepEqual(owners(created), {one: {'f:metadata': {'f:labels': {'f:x': {}}}}})
  })

  it('gives the fields of an untracked object to before-first-apply', () => {
    const untracked: ApiObject = {metadata: {name: 'ssa', uid: 'u'}, data: {a: '1', b: '1'}}
    const applied = configMap({a: '1', c: '1'})
    const {metadata} = applyAs('one', {live: untracked, applied, now: LATER})
    assert.deepEqual(
      metadata.managedFields?.map(({manager, operation}) => `${manager ?? ''} ${operation ?? ''}`),
      ['one Apply', 'before-first-apply Update'],
    )
    assert.throws(() => applyAs('one', {live: untracked, applied: configMap({a: '2'})}), {
      message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    })
  })

  it('changes nothing when it is applied again', () => {
    const data = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'd'), fc.string())
    fc.assert(
      fc.property(data, data, data, (first, second, third) => {
        const base = applyAs('one', {applied: configMap(first)})
        const applied = configMap(second, {labels: third})
        const once = applyAs('two', {live: base, applied, force: true})
        const inputs = JSON.stringify([once, applied])
        const twice = applyAs('two', {live: once, applied, now: LATER})
        assert.equal(JSON.stringify(twice), JSON.stringify(once))
        assert.equal(JSON.stringify([once, applied]), inputs)
      }),
    )
  })

  it('always ends with the configuration in the object', () => {
    const lists: fc.Arbitrary<string[]> = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), {
      minLength: 1,
    })
    fc.assert(
      fc.property(lists, lists, lists, (first, second, third) => {
        const containers = (names: string[], image: string) => names.map((name) => ({name, image}))
        const one = applyAs('one', {applied: pod(containers(first, '1'))})
        const two = applyAs('two', {live: one, applied: pod(containers(second, '2')), force: true})
        const last = applyAs('one', {live: two, applied: pod(containers(third, '3')), force: true})
        const spec = last.spec as {containers: {name: string; image: string}[]}
        const names = spec.containers.map(({name}) => name)
        assert.deepEqual(new Set(names), new Set([...second, ...third]))
        assert.equal(names.length, new Set(names).size)
        assert.deepEqual(
          names.filter((name) => third.includes(name)),
          third,
        )
      }),
    )
  })

  const refused: {name: string; applied: JsonObject; code: number; message: string}[] = [
    {
      name: 'managedFields in a configuration',
      applied: configMap({}, {managedFields: []}),
      code: 400,
      message: 'metadata.managedFields must be nil',
    },
    {
      name: 'another kind',
      applied: {...configMap({}), kind: 'Secret'},
      code: 400,
      message: 'invalid object type: /v1, Kind=Secret',
    },
    {
      name: 'an unknown field',
      applied: {...configMap({}, {namespace: 'ns'}), dta: {}},
      code: 500,
      message:
        'failed to create typed patch object (ns/ssa; /v1, Kind=ConfigMap): .dta: field not declared in schema',
    },
    {
      name: 'a value of another type',
      applied: configMap({a: 1}),
      code: 500,
      message:
        'failed to create typed patch object (/ssa; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}',
    },
    {
      name: 'an item twice',
      applied: pod([{name: 'a'}, {name: 'a'}]),
      code: 500,
      message:
        'failed to create typed patch object (/ssa; /v1, Kind=Pod): .spec.containers: duplicate entries for key [name="a"]',
    },
    {
      name: 'an item with no key',
      applied: pod([{image: 'x'}]),
      code: 500,
      message:
        'failed to create typed patch object (/ssa; /v1, Kind=Pod): .spec.containers: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
    },
    {
      name: 'several wrong values, all of them',
      applied: pod([{name: 'a', tty: 'yes'}], {hostNetwork: 1}),
      code: 500,
      message:
        'failed to create typed patch object (/ssa; /v1, Kind=Pod): errors:\n  .spec.containers[name="a"].tty: expected boolean, got &{yes}\n  .spec.hostNetwork: expected boolean, got &{1}',
    },
  ]
  for (const {name, applied, code, message} of refused) {
    it(`refuses ${name}`, () => {
      const kind = name === 'another kind' ? {kind: 'ConfigMap'} : {}
      assert.throws(() => applyAs('one', {applied, ...kind}), {code, message})
    })
  }
})

describe('apply by kubectl over its client-side apply', () => {
  const annotated = (data: JsonObject, last: JsonObject) =>
    configMap(data, {annotations: {[LAST_APPLIED]: `${JSON.stringify(last)}\n`}})

  const clientSide = (data: JsonObject, last = data): ApiObject => {
    const updated = annotated(data, configMap(last, {annotations: {}})) as unknown as ApiObject
    const managedFields = trackUpdate({
      shape: CONFIG_MAP,
      updated,
      manager: 'kubectl-client-side-apply',
      apiVersion: 'v1',
      now: NOON,
    })
    return {
      ...updated,
      metadata: {...updated.metadata, uid: 'u', ...(managedFields && {managedFields})},
    }
  }

  it('takes over what it set itself without a conflict, and refreshes the annotation', () => {
    const applied = configMap({a: '2'})
    const {data, metadata, ...rest} = applyAs('kubectl', {
      live: clientSide({a: '1', b: '1'}),
      applied,
    })
    assert.deepEqual(data, {a: '2', b: '1'})
    assert.equal(
      metadata.annotations?.[LAST_APPLIED],
      '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"ssa"}}\n',
    )
    assert.deepEqual(owners({...rest, metadata}), {
      kubectl: {'f:data': {'f:a': {}}},
      'kubectl-client-side-apply': {
        'f:data': {'.': {}, 'f:b': {}},
        'f:metadata': {
          'f:annotations': {'.': {}, 'f:kubectl.kubernetes.io/last-applied-configuration': {}},
        },
      },
    })
  })

  it('still refuses what somebody else changed since', () => {
    const live = updateAs('curl', clientSide({a: '1'}), {data: {a: '5'}})
    assert.throws(() => applyAs('kubectl', {live, applied: configMap({a: '2'})}), {
      message: 'Apply failed with 1 conflict: conflict with "curl" using v1: .data.a',
    })
  })

  it('lets no other manager take over', () => {
    const live = clientSide({a: '1'})
    assert.throws(() => applyAs('flux', {live, applied: configMap({a: '2'})}), {code: 409})
  })
})
