import assert from 'node:assert/strict'
import type {Dependent} from '../../../src/control-plane/ca-rotation/dependent.ts'
import {formatGroups, groupsOf, shortened} from '../../../src/control-plane/ca-rotation/groups.ts'

const node = (index: number): Dependent => ({
  kind: 'node',
  name: `w${index}`,
  reasons: ['does not report'],
  todo: `run "trustadm node renew" on w${index}`,
})
const FLEET = Array.from({length: 5000}, (_, index) => node(index))
const ALICE: Dependent = {
  kind: 'client',
  name: 'alice',
  reasons: ['uses certificate 1f of the old CA'],
  todo: 'give alice a new one',
  lastSeen: '2026-03-02T00:00:00.000Z',
}

describe('the groups of those who depend on an old CA', () => {
  it('have a number, the first names and one remedy', () => {
    const [nodes, clients, ...more] = groupsOf([
      ...FLEET,
      ALICE,
      {...ALICE, lastSeen: '2026-03-01'},
    ])
    assert.deepEqual(more, [])
    assert.deepEqual(nodes, {
      name: 'node',
      what: 'nodes have not followed',
      count: 5000,
      first: ['w0', 'w1', 'w2', 'w3', 'w4'],
      todos: [
        'run "trustadm node renew" on each of these nodes; if a machine is gone, delete its Node',
      ],
    })
    // One user with two certificates.
    assert.deepEqual(
      [clients?.count, clients?.first, clients?.lastSeen, clients?.todos],
      [2, ['alice'], ALICE.lastSeen, ['give alice a new one']],
    )
  })

  it('are apart where one name stands for all of them', () => {
    const gone = {...ALICE, name: 'system:node:gone', group: 'unregistered-nodes'}
    const names = groupsOf([ALICE, gone, {...gone, kind: 'issued'}]).map(({name, count}) => [
      name,
      count,
    ])
    assert.deepEqual(names, [
      ['client', 1],
      ['unregistered-nodes', 2],
    ])
  })

  it('show a few one by one, and of many the first', () => {
    const [nodes, clients] = shortened([...FLEET, ALICE])
    assert.deepEqual([nodes?.shown.length, nodes?.more], [5, 4995])
    assert.deepEqual([clients?.shown, clients?.more], [[ALICE], 0])
    assert.equal(
      formatGroups([...FLEET, ALICE]),
      '5000 nodes have not followed: w0, w1, w2, w3, w4, … → run "trustadm node renew" on each of these nodes; if a machine is gone, delete its Node\n' +
        'client alice: uses certificate 1f of the old CA → give alice a new one',
    )
  })
})
