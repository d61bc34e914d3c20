import assert from 'node:assert/strict'

import {NOW_TEXT, cells, createErrors, created, texts, updated} from './support.ts'

const volume = {
  spec: {
    capacity: {storage: '1024Mi'},
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

  it('refuses what cannot be mounted', () => {
    assert.deepEqual(texts(createErrors('persistentvolumes', {})), [
      'spec.accessModes: Required value',
      'spec.capacity: Required value',
      'spec.capacity: Unsupported value: null: supported values: "storage"',
      'spec: Required value: must specify a volume type',
    ])
    const spec = {
      ...volume.spec,
      accessModes: ['Odd'],
      nfs: {},
      persistentVolumeReclaimPolicy: 'Keep',
    }
    assert.deepEqual(texts(createErrors('persistentvolumes', {spec})), [
      'spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
      'spec.nfs: Forbidden: may not specify more than 1 volume type',
    ])
  })

  it('refuses another capacity than some storage', () => {
    const spec = {...volume.spec, capacity: {storage: '-1Gi', cpu: '1'}}
    assert.deepEqual(texts(createErrors('persistentvolumes', {spec})), [
      'spec.capacity: Unsupported value: {"cpu":"1","storage":"-1Gi"}: supported values: "storage"',
      'spec.capacity[storage]: Invalid value: "-1Gi": must be greater than zero',
    ])
  })

  for (const plural of ['persistentvolumes', 'persistentvolumeclaims']) {
    it(`refuses a storage class of ${plural} that no class can have as its name`, () => {
      const {spec} = plural === 'persistentvolumes' ? volume : claim
      const found = texts(createErrors(plural, {spec: {...spec, storageClassName: 'B_'}}))
      assert.equal(found.length, 1)
      assert.match(
        found.join(),
        /^spec.storageClassName: Invalid value: "B_": a lowercase RFC 1123/,
      )
    })
  }

  it('stays where its data lies', () => {
    const old = created('persistentvolumes', volume)
    const spec = {...volume.spec, hostPath: {path: '/other'}}
    assert.deepEqual(texts(updated('persistentvolumes', old, {spec}).errors), [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
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

  it('has to say how much, and how', () => {
    assert.deepEqual(texts(createErrors('persistentvolumeclaims', {})), [
      'spec.accessModes: Required value: at least 1 access mode is required',
      'spec.resources[storage]: Required value',
    ])
    const spec = {...claim.spec, resources: {requests: {storage: '0'}}}
    assert.deepEqual(texts(createErrors('persistentvolumeclaims', {spec})), [
      'spec.resources[storage]: Invalid value: "0": must be greater than zero',
    ])
  })

  it('is bound once, and grows only then', () => {
    const old = created('persistentvolumeclaims', claim)
    const bound = {...old, spec: {...old.spec, volumeName: 'v'}}
    assert.deepEqual(updated('persistentvolumeclaims', old, bound).errors, [])

    const grown = {...bound, spec: {...bound.spec, resources: {requests: {storage: '2Gi'}}}}
    assert.match(
      texts(updated('persistentvolumeclaims', bound, grown).errors).join(),
      /^spec: Forbidden: spec is immutable after creation except resources.requests/,
    )
    const ready = {...bound, status: {phase: 'Bound'}}
    assert.deepEqual(updated('persistentvolumeclaims', ready, grown).errors, [])
    assert.equal(
      updated('persistentvolumeclaims', {...ready, spec: grown.spec}, bound).errors.length,
      1,
    )
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
