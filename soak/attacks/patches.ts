import type {Attack} from '../attack.ts'
import {inTurn, JSON_PATCH, many, MERGE, nodePath, STRATEGIC} from './bodies.ts'

const repeated = <T>(count: number, one: (number: number) => T) =>
  Array.from({length: count}, (_, number) => one(number))
const ADD = {op: 'add', path: '/metadata/annotations', value: many(9000, 'x')}
const DEEP = 100_000

const PATCHES: {type: string; body: string}[] = [
  [
    ADD,
    ...repeated(9000, (n) => ({
      op: 'move',
      from: `/metadata/annotations/k${n}`,
      path: '/metadata/annotations/z',
    })),
  ],
  [
    ADD,
    ...repeated(9000, () => ({op: 'copy', from: '/metadata', path: '/metadata/annotations/copy'})),
  ],
  [
    ADD,
    ...repeated(9000, () => ({op: 'test', path: '/metadata/annotations', value: ADD.value.k0})),
  ],
  repeated(20_000, (n) => ({op: 'add', path: '/spec/taints/0', value: {key: `k${n}`}})),
  [
    {op: 'add', path: '/spec/podCIDRs', value: repeated(90_000, () => 'x')},
    ...repeated(9000, () => ({op: 'remove', path: '/spec/podCIDRs/0'})),
  ],
  repeated(30, () => ({op: 'copy', from: '/metadata', path: '/metadata/copy'})),
].map((operations) => ({type: JSON_PATCH, body: JSON.stringify(operations)}))

PATCHES.push(
  {
    type: JSON_PATCH,
    body: `[{"op":"test","path":"/a","value":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}]`,
  },
  {type: JSON_PATCH, body: JSON.stringify([{op: 'add', path: '/a'.repeat(300_000), value: 1}])},
  {type: MERGE, body: `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`},
  {
    type: STRATEGIC,
    body: JSON.stringify({
      spec: {
        taints: repeated(8000, (n) => ({key: `k${n}`, effect: 'NoSchedule', $patch: 'delete'})),
        '$setElementOrder/taints': repeated(8000, (n) => ({key: `k${n}`})),
      },
    }),
  },
  {
    type: STRATEGIC,
    body: JSON.stringify({
      status: {conditions: repeated(10_000, (n) => ({type: `t${n}`, status: 'True'}))},
    }),
  },
  {
    type: STRATEGIC,
    body: JSON.stringify({
      metadata: {'$deleteFromPrimitiveList/finalizers': repeated(50_000, (n) => `f${n}`)},
    }),
  },
)

/** Patches whose parts work against each other. */
export const patches: Attack = {
  name: 'patches',
  aim: 'thousands of operations in one patch of a node',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 5, atOnce: 2}, (number) => {
      const node = inTurn(holdings.nodes, number)
      const path = number % 2 === 0 ? nodePath(node) : `${nodePath(node)}/status`
      return shoot(node, {method: 'PATCH', path, ...inTurn(PATCHES, number)})
    }),
}
