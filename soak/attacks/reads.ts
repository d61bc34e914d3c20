import type {Attack} from '../attack.ts'
import {CSRS, inTurn, nodePath} from './bodies.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const terms = (count: number, term: (number: number) => string) =>
  encodeURIComponent(Array.from({length: count}, (_, number) => term(number)).join(','))

const QUERIES: {path: string; accept?: string}[] = [
  {path: CSRS},
  {path: CSRS, accept: TABLE},
  {path: CSRS, accept: PROTOBUF},
  {path: `${CSRS}?limit=1`},
  {path: `${CSRS}?limit=500&continue=${'A'.repeat(8000)}`},
  {path: `${CSRS}?labelSelector=${terms(1200, (n) => `k${n}`)}`},
  {
    path: `${CSRS}?labelSelector=${encodeURIComponent(`k in (${Array.from({length: 2500}, (_, n) => `v${n}`).join(',')})`)}`,
  },
  {path: `${CSRS}?labelSelector=${'('.repeat(8000)}`},
  {path: `${CSRS}?fieldSelector=${terms(600, () => 'metadata.name=x')}`},
  {path: '/api/v1/services', accept: TABLE},
  {path: '/openapi/v2'},
  {path: '/openapi/v2', accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'},
  {path: '/openapi/v3/api/v1'},
  {path: '/apis', accept: `${'application/json;q=0.1,'.repeat(500)}application/json`},
  {path: '/metrics'},
]

/** Answers that are large, and questions that are hard to take apart. */
export const reads: Attack = {
  name: 'reads',
  aim: 'lists, tables, selectors of a thousand terms, documents',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 40, atOnce: 4}, (number) => {
      const {path, accept = 'application/json'} = inTurn(QUERIES, number)
      const node = inTurn(holdings.nodes, number)
      if (number % 25 === 0) return shoot(node, {path: nodePath(node), headers: {accept: TABLE}})
      const identity = path.startsWith(CSRS) ? holdings.bootstrap : node
      return shoot(identity, {path, headers: {accept}})
    }),
}
