import assert from 'node:assert/strict'

import {humanDuration, since} from '../../../src/server/resources/columns.ts'
import {cells, resource} from './support.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

const durations: [milliseconds: number, text: string][] = [
  [-3 * S, '<invalid>'],
  [-1 * S, '0s'],
  [0, '0s'],
  [119 * S, '119s'],
  [120 * S, '2m'],
  [121 * S, '2m1s'],
  [10 * M, '10m'],
  [179 * M, '179m'],
  [3 * H, '3h'],
  [3 * H + 5 * M, '3h5m'],
  [8 * H, '8h'],
  [47 * H, '47h'],
  [48 * H, '2d'],
  [49 * H, '2d1h'],
  [8 * D, '8d'],
  [729 * D, '729d'],
  [730 * D, '2y'],
  [731 * D, '2y1d'],
  [8 * 365 * D, '8y'],
]

describe('columns', () => {
  for (const [milliseconds, text] of durations) {
    it(`writes ${milliseconds / S} seconds as ${text}`, () => {
      assert.equal(humanDuration(milliseconds), text)
    })
  }

  it('does not know the age of what has no time', () => {
    assert.equal(since(undefined, new Date(0)), '<unknown>')
  })

  it('shows when a role was created, as a date', () => {
    const time = '2026-01-01T00:00:00Z'
    assert.deepEqual(cells('roles', {metadata: {creationTimestamp: time}}), {
      Name: 'x',
      'Created At': time,
    })
    assert.equal(resource('clusterroles').columns?.[1]?.type, 'date')
  })

  it('counts keys as a number in a column of strings', () => {
    const {Data: count} = cells('configmaps', {data: {a: '1'}, binaryData: {b: 'Yg=='}})
    assert.equal(count, 2)
    assert.equal(resource('configmaps').columns?.[1]?.type, undefined)
  })

  it('shows who a binding is for', () => {
    const shown = cells('rolebindings', {
      roleRef: {kind: 'Role', name: 'reader'},
      subjects: [
        {kind: 'User', name: 'ann'},
        {kind: 'User', name: 'bob'},
        {kind: 'Group', name: 'g1'},
        {kind: 'ServiceAccount', name: 'default', namespace: 'oracle'},
      ],
    })
    assert.equal(shown.Role, 'Role/reader')
    assert.equal(shown.Users, 'ann, bob')
    assert.equal(shown.Groups, 'g1')
    assert.equal(shown.ServiceAccounts, 'oracle/default')
  })

  it('shows what a driver can do', () => {
    const spec = {attachRequired: true, volumeLifecycleModes: ['Persistent', 'Ephemeral']}
    assert.deepEqual(cells('csidrivers', {spec}), {
      Name: 'x',
      AttachRequired: true,
      PodInfoOnMount: false,
      StorageCapacity: false,
      TokenRequests: '<unset>',
      RequiresRepublish: false,
      Modes: 'Persistent,Ephemeral',
      Age: '<unknown>',
    })
  })

  it('shows phases, holders, handlers and counts of the smaller kinds', () => {
    assert.equal(cells('namespaces', {status: {phase: 'Active'}}).Status, 'Active')
    assert.equal(cells('leases', {spec: {holderIdentity: 'me'}}).Holder, 'me')
    assert.equal(cells('runtimeclasses', {handler: 'runc'}).Handler, 'runc')
    assert.equal(cells('csinodes', {spec: {drivers: [{name: 'a'}]}}).Drivers, 1)
    assert.equal(cells('secrets', {type: 'Opaque', data: {a: ''}}).Data, 1)
    assert.equal(cells('machines', {status: {phase: 'Running'}}).Phase, 'Running')
  })
})
