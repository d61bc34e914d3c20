import assert from 'node:assert/strict'

import {cells, contextOf, createErrors, created, resource, texts, updated} from './support.ts'

const minutesAgo = (minutes: number) =>
  new Date(Date.parse('2026-01-02T03:04:05Z') - minutes * 60_000).toISOString()

describe('Namespace', () => {
  it('starts active, with its name as a label and the finalizer that holds it', () => {
    const made = created('namespaces', {
      metadata: {name: 'ns', labels: {'kubernetes.io/metadata.name': 'other', a: 'b'}},
      status: {phase: 'Terminating'},
    })
    assert.deepEqual(made.metadata.labels, {'kubernetes.io/metadata.name': 'ns', a: 'b'})
    assert.deepEqual(made.spec, {finalizers: ['kubernetes']})
    assert.deepEqual(made.status, {phase: 'Active'})
  })

  it('keeps spec and status at its main endpoint', () => {
    const old = created('namespaces', {metadata: {name: 'ns'}})
    const {object} = updated('namespaces', old, {metadata: {name: 'ns'}, spec: {finalizers: []}})
    assert.deepEqual([object.spec, object.status], [old.spec, old.status])
  })

  it('loses finalizers at /finalize only', () => {
    const old = created('namespaces', {metadata: {name: 'ns'}})
    const context = contextOf({subresource: 'finalize'})
    const {object, errors} = updated('namespaces', old, {spec: {finalizers: []}}, context)
    assert.deepEqual([object.spec, object.status, errors], [{finalizers: []}, old.status, []])
  })

  it('may not be called active while it goes', () => {
    const context = contextOf({subresource: 'status'})
    const metadata = {name: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z'}
    const {errors} = updated(
      'namespaces',
      {metadata},
      {metadata, status: {phase: 'Active'}},
      context,
    )
    assert.equal(errors.length, 1)
  })

  it('refuses a finalizer without a domain', () => {
    assert.match(
      texts(createErrors('namespaces', {spec: {finalizers: ['mine']}})).join(),
      /neither a standard finalizer name nor is it fully qualified$/,
    )
  })
})

describe('Node', () => {
  it('keeps its status on create, and not at its main endpoint', () => {
    const status = {nodeInfo: {kubeletVersion: 'v1'}, capacity: {memory: '1Mi'}}
    const made = created('nodes', {status})
    assert.deepEqual(made.status, status)
    const {object} = updated('nodes', made, {status: {}})
    assert.deepEqual(object.status, made.status)
  })

  it('changes its status, and nothing else but metadata, at /status', () => {
    const old = created('nodes', {spec: {unschedulable: true}})
    const context = contextOf({subresource: 'status'})
    const body = {metadata: {labels: {a: 'b'}}, spec: {}, status: {phase: 'x'}}
    const {object} = updated('nodes', old, body, context)
    assert.deepEqual(object.spec, {unschedulable: true})
    assert.deepEqual(object.status, {phase: 'x'})
    assert.deepEqual(object.metadata.labels, {a: 'b'})
  })

  it('refuses wrong and repeated taints, and wrong address blocks', () => {
    const taint = {key: 'a', effect: 'NoSchedule'}
    const spec = {taints: [taint, taint, {key: 'b', effect: 'x'}], podCIDRs: ['10.0.0.0']}
    const found = texts(createErrors('nodes', {spec}))
    assert.equal(found.length, 3, found.join('\n'))
    assert.equal(
      found[0],
      'spec.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    )
    assert.equal(
      found[1],
      'spec.taints[2].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    )
    assert.match(found[2] ?? '', /^spec.podCIDRs\[0\]: Invalid value: "10.0.0.0"/)
  })

  it('gets its address block and provider once', () => {
    const old = created('nodes', {spec: {podCIDR: '10.0.0.0/24', providerID: 'a'}})
    assert.deepEqual(old.spec.podCIDRs, ['10.0.0.0/24'])
    const spec = {...old.spec, podCIDR: '10.0.1.0/24', providerID: 'b'}
    const {errors} = updated('nodes', old, {spec})
    assert.deepEqual(texts(errors), [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ])
  })

  it('shows unknown where it does not know', () => {
    assert.deepEqual(cells('nodes', {}), {
      Name: 'x',
      Status: 'Unknown',
      Roles: '<none>',
      Age: '<unknown>',
      Version: '',
      'Internal-IP': '<none>',
      'External-IP': '<none>',
      'OS-Image': '<unknown>',
      'Kernel-Version': '<unknown>',
      'Container-Runtime': '<unknown>',
    })
  })

  it('shows readiness, roles and addresses', () => {
    const shown = cells('nodes', {
      metadata: {
        labels: {
          'node-role.kubernetes.io/worker': '',
          'node-role.kubernetes.io/control-plane': '',
          'kubernetes.io/role': 'worker',
        },
      },
      spec: {unschedulable: true},
      status: {
        conditions: [{type: 'Ready', status: 'False'}],
        addresses: [{type: 'InternalIP', address: '192.0.2.7'}],
        nodeInfo: {kernelVersion: '6.1', architecture: 'amd64'},
      },
    })
    assert.equal(shown.Status, 'NotReady,SchedulingDisabled')
    assert.equal(shown.Roles, 'control-plane,worker')
    assert.equal(shown['Internal-IP'], '192.0.2.7')
    assert.equal(shown['Kernel-Version'], '6.1 (amd64)')
  })

  it('is selected by whether it is closed to pods', () => {
    const select = resource('nodes').fields?.['spec.unschedulable']
    assert.equal(select?.({metadata: {}}), 'false')
    assert.equal(select({metadata: {}, spec: {unschedulable: true}}), 'true')
  })
})

describe('ServiceAccount', () => {
  it('keeps only the names of its secrets', () => {
    const {secrets} = created('serviceaccounts', {secrets: [{name: 'a', namespace: 'b', uid: 'c'}]})
    assert.deepEqual(secrets, [{name: 'a'}])
  })
})

describe('Event', () => {
  const about = (namespace?: string) => ({
    involvedObject: {kind: 'Pod', name: 'p', ...(namespace ? {namespace} : {})},
  })

  it('stands where its object stands', () => {
    assert.deepEqual(createErrors('events', about('default')), [])
    assert.deepEqual(createErrors('events', about()), [])
    assert.deepEqual(texts(createErrors('events', about('other'))), [
      'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ])
  })

  it('may stand elsewhere where it has an eventTime, but not without a namespace', () => {
    const complete = {
      eventTime: '2026-01-01T00:00:00.000000Z',
      ...{reportingComponent: 'a', reportingInstance: 'b', action: 'c', reason: 'd'},
    }
    assert.deepEqual(createErrors('events', {...about('other'), ...complete}), [])
    const metadata = {name: 'e', namespace: 'web'}
    assert.deepEqual(texts(createErrors('events', {...about(), ...complete, metadata})), [
      'involvedObject.namespace: Invalid value: "": does not match event.namespace',
    ])
  })

  it('has to say who reports it where it has an eventTime', () => {
    const event = {...about('default'), eventTime: '2026-01-01T00:00:00.000000Z'}
    assert.deepEqual(
      createErrors('events', event).map(({field}) => field),
      [
        ...['reportingController', 'reportingController', 'reportingController'],
        ...['reportingInstance', 'action', 'reason'],
      ],
    )
  })

  it('shows when, what and whom', () => {
    const shown = cells('events', {
      involvedObject: {kind: 'Pod', name: 'p', fieldPath: 'spec'},
      type: 'Warning',
      reason: 'Failed',
      message: ' text \n',
      source: {component: 'kubelet', host: 'n1'},
      firstTimestamp: minutesAgo(30),
      lastTimestamp: minutesAgo(1),
      count: 3,
    })
    assert.deepEqual(shown, {
      'Last Seen': '60s',
      Type: 'Warning',
      Reason: 'Failed',
      Object: 'pod/p',
      Subobject: 'spec',
      Source: 'kubelet, n1',
      Message: 'text',
      'First Seen': '30m',
      Count: 3,
      Name: 'x',
    })
  })

  it('shows what a series says of itself', () => {
    const shown = cells('events', {
      eventTime: minutesAgo(30),
      series: {count: 9, lastObservedTime: minutesAgo(1)},
      reportingComponent: 'c',
    })
    assert.deepEqual(
      [shown['Last Seen'], shown['First Seen'], shown.Count, shown.Source],
      ['60s', '30m', 9, 'c'],
    )
  })
})

describe('Lease', () => {
  it('refuses what cannot be', () => {
    const spec = {leaseDurationSeconds: 0, leaseTransitions: -1, preferredHolder: 'me'}
    assert.deepEqual(texts(createErrors('leases', {spec})), [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
      'spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined',
    ])
  })

  it('may be held by nobody', () => {
    assert.deepEqual(createErrors('leases', {spec: {holderIdentity: ''}}), [])
  })

  it('is only updated by who knows its version', () => {
    assert.equal(resource('leases').conditionalUpdateOnly, true)
  })
})

describe('CSIDriver, CSINode and RuntimeClass', () => {
  it('fills in what a driver does not say', () => {
    assert.deepEqual(created('csidrivers', {}).spec, {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
      volumeLifecycleModes: ['Persistent'],
    })
  })

  it('refuses drivers of a node and runtime classes that do not say which', () => {
    const spec = {drivers: [{name: 'a.io', nodeID: 'n'}, {name: 'b.io'}]}
    assert.deepEqual(texts(createErrors('csinodes', {spec})), [
      'spec.drivers[1].nodeID: Required value',
    ])
    assert.deepEqual(createErrors('csinodes', {spec: {drivers: []}}), [])
    assert.deepEqual(texts(createErrors('runtimeclasses', {})), ['handler: Required value'])
  })
})

describe('Machine', () => {
  it('gets its status through /status only', () => {
    assert.equal(created('machines', {status: {phase: 'x'}}).status, undefined)
    const old = {metadata: {name: 'x'}, status: {phase: 'Running'}}
    assert.deepEqual(updated('machines', old, {status: {phase: 'y'}}).object.status, old.status)
  })
})
