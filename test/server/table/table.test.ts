import assert from 'node:assert/strict'

import type {ApiObject} from '../../../src/api/meta.ts'
import type {Resource} from '../../../src/server/kernel/resource.ts'
import {ageOf} from '../../../src/server/table/human-duration.ts'
import {
  includeObjectOf,
  partialList,
  requirePartialFits,
  tableOfEvent,
  tableOfList,
  tableOfObject,
  type TableOptions,
} from '../../../src/server/table/table.ts'

const configMaps: Pick<Resource, 'columns' | 'group' | 'kind' | 'version'> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  columns: [
    {name: 'Name', format: 'name', description: 'n', value: ({metadata}) => metadata.name ?? ''},
    {name: 'Data', description: 'd', value: ({data}) => Object.keys(data ?? {}).length},
    {
      name: 'Age',
      description: 'a',
      value: ({metadata}, now) => ageOf(metadata.creationTimestamp, now),
    },
    {name: 'Hidden', type: 'integer', priority: 1, description: 'h', value: () => null},
  ],
}
const roles = {group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role'}

const object: ApiObject = {
  metadata: {name: 'one', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z'},
  data: {a: '1'},
}
const options: TableOptions = {
  version: 'v1',
  include: 'Metadata',
  now: new Date('2026-01-01T00:00:30Z'),
}

describe('a table', () => {
  it('of a list keeps its metadata and has a row for each item', () => {
    const metadata = {resourceVersion: '9', continue: 'x', remainingItemCount: 3}
    assert.deepEqual(tableOfList(configMaps, {metadata, items: [object]}, options), {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      columnDefinitions: [
        {name: 'Name', type: 'string', format: 'name', description: 'n', priority: 0},
        {name: 'Data', type: 'string', format: '', description: 'd', priority: 0},
        {name: 'Age', type: 'string', format: '', description: 'a', priority: 0},
        {name: 'Hidden', type: 'integer', format: '', description: 'h', priority: 1},
      ],
      rows: [
        {
          cells: ['one', 1, '30s', null],
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: object.metadata,
          },
        },
      ],
    })
  })

  it('of one object carries its resourceVersion', () => {
    const made = tableOfObject(configMaps, object, {...options, version: 'v1beta1'})
    assert.equal(made.apiVersion, 'meta.k8s.io/v1beta1')
    assert.deepEqual(made.metadata, {resourceVersion: '7'})
    assert.equal(made.rows.length, 1)
  })

  it('holds nothing or the whole object where the caller wants it', () => {
    const rowObject = (include: TableOptions['include']) =>
      tableOfObject(configMaps, object, {...options, include}).rows[0]?.object
    assert.equal(rowObject('None'), null)
    assert.deepEqual(rowObject('Object'), {kind: 'ConfigMap', apiVersion: 'v1', ...object})
  })

  it('names the served version of a whole object', () => {
    const made = tableOfObject(roles, object, {
      ...options,
      include: 'Object',
      objectVersion: 'v1beta1',
    })
    const {apiVersion} = made.rows[0]?.object as {apiVersion: string}
    assert.equal(apiVersion, 'rbac.authorization.k8s.io/v1beta1')
  })

  it('has Name and Created At for a kind without columns', () => {
    const made = tableOfObject(roles, object, options)
    assert.deepEqual(
      made.columnDefinitions?.map(({name, type}) => [name, type]),
      [
        ['Name', 'string'],
        ['Created At', 'date'],
      ],
    )
    assert.deepEqual(made.rows[0]?.cells, ['one', '2026-01-01T00:00:00Z'])
  })

  it('of an event has columns only in the first', () => {
    assert.equal(tableOfEvent(configMaps, object, true, options).columnDefinitions?.length, 4)
    assert.equal(tableOfEvent(configMaps, object, false, options).columnDefinitions, null)
  })

  it('of a bookmark is the captured one', () => {
    const bookmark: ApiObject = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {resourceVersion: '208', annotations: {'k8s.io/initial-events-end': 'true'}},
    }
    const made = tableOfEvent(configMaps, bookmark, false, options)
    assert.deepEqual(made.metadata, {resourceVersion: '208'})
    assert.deepEqual(made.rows[0]?.cells.slice(0, 3), ['', 0, '<unknown>'])
  })
})

describe('the includeObject parameter', () => {
  it('means the metadata where it is absent', () => {
    assert.equal(includeObjectOf(null), 'Metadata')
    assert.equal(includeObjectOf('Object'), 'Object')
  })

  it('is refused where it is unknown', () => {
    assert.throws(() => includeObjectOf('All'), {code: 400})
  })
})

describe('partial metadata', () => {
  it('of a list carries kind and apiVersion in every item', () => {
    const list = {metadata: {resourceVersion: '9'}, items: [object]}
    assert.deepEqual(partialList(list, {version: 'v1', bareItems: false}), {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: {resourceVersion: '9'},
      items: [
        {
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata: object.metadata,
        },
      ],
    })
  })

  it('is refused as a list for one object and the other way round', () => {
    assert.throws(() => requirePartialFits(true, false), {code: 406})
    assert.throws(() => requirePartialFits(false, true), {code: 406})
    requirePartialFits(true, true)
  })
})
