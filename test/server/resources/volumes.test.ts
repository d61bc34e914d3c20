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

  it('gets the defaults of its source, as a pod does', () => {
    const sources = {
      azureDisk: {diskName: 'a', diskURI: 'b'},
      iscsi: {targetPortal: 'a', iqn: 'b', lun: 1},
      rbd: {monitors: ['a'], image: 'b', user: 'c'},
      scaleIO: {gateway: 'g', system: 's', secretRef: null, fsType: 'ext4'},
    }
    const expected = {
      azureDisk: {cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared'},
      iscsi: {iscsiInterface: 'default'},
      rbd: {user: 'c', pool: 'rbd', keyring: '/etc/ceph/keyring'},
      scaleIO: {fsType: 'ext4', storageMode: 'ThinProvisioned'},
    }
    for (const [name, source] of Object.entries(sources)) {
      const made = created('persistentvolumes', {spec: {...volume.spec, [name]: source}})
      const volumes = [{name: 'v', [name]: source}]
      const pod = created('pods', {spec: {containers: [{name: 'c', image: 'i'}], volumes}})
      const wanted = {...source, ...expected[name as keyof typeof expected]}
      assert.deepEqual(made.spec[name], wanted)
      assert.deepEqual(pod.spec.volumes[0][name], wanted)
    }
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
