import assert from 'node:assert/strict'
import type {Machine} from '../../../src/api/machine.ts'
import {
  EXPECTED_FROM,
  dnsNamesOf,
  isWithin,
  windowOf,
} from '../../../src/controllers/approval/machine-window.ts'

const machine = (creationTimestamp: string | undefined, renewed?: string): Machine => ({
  metadata: {
    name: 'm',
    ...(creationTimestamp !== undefined && {creationTimestamp}),
    ...(renewed !== undefined && {annotations: {[EXPECTED_FROM]: renewed}}),
  },
})
const CREATED = '2026-01-01T10:00:00Z'

const isExpected = (one: Machine, time: string): boolean | undefined => {
  const window = windowOf(one)
  return window && isWithin(window, new Date(time))
}

describe('the window of a Machine', () => {
  for (const [time, expected] of [
    ['2026-01-01T09:59:49Z', false],
    ['2026-01-01T09:59:50Z', true],
    ['2026-01-01T12:00:00Z', true],
    ['2026-01-01T12:00:01Z', false],
  ] as const) {
    it(`${expected ? 'includes' : 'excludes'} ${time} if it was created at ${CREATED}`, () => {
      assert.equal(isExpected(machine(CREATED), time), expected)
    })
  }

  it('moves when the Machine is renewed, and leaves out what was asked before', () => {
    const renewed = machine(CREATED, '2026-01-05T08:00:00Z')
    assert.equal(isExpected(renewed, '2026-01-01T10:30:00Z'), false)
    assert.equal(isExpected(renewed, '2026-01-05T09:00:00Z'), true)
  })

  it('does not move back before the creation', () => {
    assert.equal(isExpected(machine(CREATED, '2025-01-01T00:00:00Z'), CREATED), true)
  })

  it('is not there if a time cannot be read', () => {
    assert.equal(windowOf(machine(undefined)), undefined)
    assert.equal(windowOf(machine(CREATED, 'tomorrow')), undefined)
  })
})

describe('the names of a Machine', () => {
  it('are its InternalDNS, each once, without case and closing dot', () => {
    const addresses = ['W1.example.com.', 'w1.example.com', 'w1', ''].map((address) => ({
      type: 'InternalDNS',
      address,
    }))
    const others = [
      {type: 'Hostname', address: 'host'},
      {type: 'InternalIP', address: '10.0.0.1'},
    ]
    const status = {addresses: [...addresses, ...others]}
    assert.deepEqual(dnsNamesOf({metadata: {}, status}), ['w1.example.com', 'w1'])
    assert.deepEqual(dnsNamesOf({metadata: {}}), [])
  })
})
