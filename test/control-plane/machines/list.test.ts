import assert from 'node:assert/strict'
import type {Machine} from '../../../src/api/machine.ts'
import {reportOn} from '../../../src/control-plane/machines/list.ts'

const machine = (status: Machine['status'] = {}): Machine => ({
  metadata: {namespace: 'kube-system', name: 'w1', creationTimestamp: '2026-01-01T10:00:00Z'},
  status: {addresses: [{type: 'InternalDNS', address: 'w1'}], ...status},
})

describe('the state of a machine', () => {
  for (const [state, time, status] of [
    ['early', '2026-01-01T09:00:00Z', {}],
    ['expected', '2026-01-01T11:00:00Z', {}],
    ['overdue', '2026-01-01T12:00:01Z', {}],
    ['joined', '2026-01-02T00:00:00Z', {nodeRef: {name: 'w1'}}],
    ['incomplete', '2026-01-01T11:00:00Z', {addresses: []}],
  ] as [string, string, Machine['status']][]) {
    it(`is ${state} at ${time}`, () => {
      const report = reportOn(machine(status), new Date(time))
      assert.equal(report.state, state)
      assert.equal(report.expectedUntil, '2026-01-01T12:00:00Z')
    })
  }
})
