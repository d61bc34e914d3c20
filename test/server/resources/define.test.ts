import assert from 'node:assert/strict'
import {cells, resource} from './support.ts'

describe('columns', () => {
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
