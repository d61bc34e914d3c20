import {sleep} from '../../src/runtime.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {createRequest} from '../../src/pki/create.ts'
import {namesOfHosts} from '../../src/pki/subject-names.ts'
import type {Attack} from '../attack.ts'
import {CSRS, freshName, inTurn, nodePath, STRATEGIC} from './bodies.ts'

const SEEN_AFTER = 1000
const NAMES = [
  'kubernetes',
  'kubernetes.default.svc',
  'localhost',
  '10.96.0.1',
  '::1',
  '169.254.0.1',
  '*.example.com',
  'honest-0',
]

/** A node says that it has the API server's names, and asks for a certificate that says so. */
export const servingNames: Attack = {
  name: 'serving-names',
  aim: "serving certificates for the API server's names and others'",
  run: ({holdings, shoot, flood, signal, breach}) =>
    flood({perSecond: 4, atOnce: 4}, async (number) => {
      const node = inTurn(holdings.nodes, number)
      const host = inTurn(NAMES, number)
      const type = /^[\d:.]+$/.test(host) ? 'InternalIP' : 'Hostname'
      const status = {addresses: [{type, address: host}]}
      const path = `${nodePath(node)}/status`
      await shoot(node, {method: 'PATCH', path, body: JSON.stringify({status}), type: STRATEGIC})
      const keys = await generateKeys()
      const pem = await createRequest(
        {commonName: `system:node:${node.name}`, organizations: ['system:nodes']},
        keys,
        namesOfHosts([host]),
      )
      const request = {
        metadata: {name: freshName('serving')},
        spec: {
          request: Buffer.from(pem).toString('base64'),
          signerName: 'kubernetes.io/kubelet-serving',
          usages: ['digital signature', 'server auth'],
        },
      }
      const body = JSON.stringify(request)
      const asked = await shoot(node, {method: 'POST', path: CSRS, body})
      if (asked.status !== 201) return
      await sleep(SEEN_AFTER, signal)
      const {text} = await shoot(node, {path: `${CSRS}/${request.metadata.name}`})
      if (text.includes('"certificate":')) breach(`a node may serve as ${host}`)
    }),
}
