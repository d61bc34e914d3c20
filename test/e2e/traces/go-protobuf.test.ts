import assert from 'node:assert/strict'
import {goProtobuf} from './go-protobuf.ts'
import {CAPTURED} from './captured.ts'

/** The traces are worth what their bodies are: these were taken off the wire. */
describe('bodies of the traces', () => {
  const AUTHENTICATION = 'authentication.k8s.io/v1'
  const cases: [keyof typeof CAPTURED, Buffer][] = [
    ['configMap', goProtobuf('v1', 'ConfigMap', {metadata: {name: 'x'}, data: {a: 'b'}})],
    ['secret', goProtobuf('v1', 'Secret', {metadata: {name: 's'}, data: {a: Buffer.from('b')}})],
    ['selfSubjectReview', goProtobuf(AUTHENTICATION, 'SelfSubjectReview')],
    ['tokenRequest', goProtobuf(AUTHENTICATION, 'TokenRequest')],
    [
      'shortTokenRequest',
      goProtobuf(AUTHENTICATION, 'TokenRequest', {
        spec: {audiences: ['foo'], expirationSeconds: 600},
      }),
    ],
    ['deleteOptions', goProtobuf('v1', 'DeleteOptions')],
  ]
  for (const [name, body] of cases) {
    it(`are those that real clients were seen to send: ${name}`, () => {
      assert.equal(body.toString('hex'), CAPTURED[name].toString('hex'))
    })
  }
})
