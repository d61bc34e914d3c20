import assert from 'node:assert/strict'

import {NOW_TEXT, cells, createErrors, created, texts, updated} from './support.ts'

const volume = {
  spec: {
    capacity: {storage: '1Gi'},
    accessModes: ['ReadWriteOnce'],
    hostPath: {path: '/data'},
  },
}
const claim = {
  spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}},
}

describe('PersistentVolume', () => {
  it('gets its defaults, and waits', () => {
    const made = created('persistentvolumes', volume)
    assert.deepEqual(made.spec, {
      capacity: {storage: '1Gi'},
      accessModes: ['ReadWriteOnce'],
      hostPath: {path: '/data', type: ''},
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
    })
    assert.deepEqual(made.status, {phase: 'Pending', lastPhaseTransitionTime: NOW_TEXT})
  })

  it('refuses values that there are not', () => {
    const spec = {...volume.spec, accessModes: ['Odd'], persistentVolumeReclaimPolicy: 'Keep'}
    assert.deepEqual(texts(createErrors('persistentvolumes', {spec})), [
      'spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
    ])
  })

  it('shows its size, modes and claim', () => {
    const shown = cells('persistentvolumes', {
      spec: {
        capacity: {storage: '1Gi'},
        accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
        claimRef: {namespace: 'a', name: 'b'},
        storageClassName: 'fast',
      },
      status: {phase: 'Bound'},
    })
    assert.deepEqual(
      [shown.Capacity, shown['Access Modes'], shown.Claim, shown.StorageClass],
      ['1Gi', 'RWO,RWX', 'a/b', 'fast'],
    )
    assert.deepEqual(
      [shown.Status, shown.VolumeAttributesClass, shown.VolumeMode],
      ['Bound', '<unset>', '<unset>'],
    )
  })
})

describe('PersistentVolumeClaim', () => {
  it('gets its defaults, and waits', () => {
    const made = created('persistentvolumeclaims', claim)
    assert.equal(made.spec.volumeMode, 'Filesystem')
    assert.deepEqual(made.status, {phase: 'Pending'})
  })

  it('keeps its status, and may be bound', () => {
    const old = created('persistentvolumeclaims', claim)
    const bound = {spec: {...old.spec, volumeName: 'v'}, status: {phase: 'Bound'}}
    const {object, errors} = updated('persistentvolumeclaims', old, bound)
    assert.deepEqual([object.spec.volumeName, object.status, errors], ['v', old.status, []])
  })

  it('shows the size of its volume once it has one', () => {
    const status = {phase: 'Bound', capacity: {storage: '1Gi'}, accessModes: ['ReadWriteOnce']}
    const without = cells('persistentvolumeclaims', {spec: {}, status})
    const shown = cells('persistentvolumeclaims', {spec: {volumeName: 'v'}, status})
    assert.deepEqual([without.Capacity, without['Access Modes']], ['', ''])
    assert.deepEqual([shown.Volume, shown.Capacity, shown['Access Modes']], ['v', '1Gi', 'RWO'])
  })

  it('shows that it goes', () => {
    const metadata = {deletionTimestamp: '2026-01-01T00:00:00Z'}
    assert.equal(cells('persistentvolumeclaims', {metadata}).Status, 'Terminating')
  })
})
