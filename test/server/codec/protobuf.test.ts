import assert from 'node:assert/strict'
import fc from 'fast-check'
import {allTypes, findType} from '../../../src/api/schema/index.ts'
import {conform} from '../../../src/server/codec/conform.ts'
import {MalformedError} from '../../../src/server/codec/decode-error.ts'
import {encodeProtobuf} from './protobuf-encode.ts'
import {decodeEnvelope, decodeMessage} from '../../../src/server/codec/protobuf.ts'
import {arbitraryObject} from './arbitrary-object.ts'

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))

/** Bodies that kubectl and kubeadm 1.36.4 sent. */
const captured = [
  {
    name: 'kubectl create configmap',
    type: 'core/v1.ConfigMap',
    hex: '6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a017812001a0022002a0032003800420012060a01611201621a002200',
    object: {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'x'}, data: {a: 'b'}},
  },
  {
    name: 'kubectl create secret generic',
    type: 'core/v1.Secret',
    hex: '6b3873000a0c0a0276311206536563726574121d0a110a017312001a0022002a0032003800420012060a01611201621a001a002200',
    object: {kind: 'Secret', apiVersion: 'v1', metadata: {name: 's'}, data: {a: 'Yg=='}},
  },
  {
    name: 'kubectl auth whoami',
    type: 'authentication/v1.SelfSubjectReview',
    hex: '6b3873000a2d0a1861757468656e7469636174696f6e2e6b38732e696f2f7631121153656c665375626a656374526576696577121a0a100a0012001a0022002a0032003800420012060a040a0012001a002200',
    object: {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      status: {userInfo: {}},
    },
  },
  {
    name: 'kubectl create token',
    type: 'authentication/v1.TokenRequest',
    hex: '6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f6b656e52657175657374121a0a100a0012001a0022002a0032003800420012001a040a0012001a002200',
    object: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: {audiences: null, expirationSeconds: null, boundObjectRef: null},
      status: {token: '', expirationTimestamp: null},
    },
  },
  {
    name: 'kubectl create token with a duration and an audience',
    type: 'authentication/v1.TokenRequest',
    hex: '6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f6b656e5265717565737412220a100a0012001a0022002a0032003800420012080a03666f6f20d8041a040a0012001a002200',
    object: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: {audiences: ['foo'], expirationSeconds: 600, boundObjectRef: null},
      status: {token: '', expirationTimestamp: null},
    },
  },
  {
    name: 'kubeadm token delete',
    type: 'meta/v1.DeleteOptions',
    hex: '6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200',
    object: {kind: 'DeleteOptions', apiVersion: 'v1'},
  },
]

const roundTrip = (typeName: string, object: Record<string, unknown>) => {
  const type = findType(typeName)
  const {apiVersion, kind, raw} = decodeEnvelope(encodeProtobuf(type, object))
  return conform(type, {apiVersion, kind, ...decodeMessage(type, raw)}).object
}

describe('protobuf bodies', () => {
  for (const {name, type: typeName, hex, object} of captured) {
    it(`reads what ${name} sends`, () => {
      const type = findType(typeName)
      const {apiVersion, kind, raw} = decodeEnvelope(bytesOf(hex))
      const value = {apiVersion, kind, ...decodeMessage(type, raw)}
      assert.deepEqual(conform(type, value).object, object)
    })

    it(`writes what ${name} sends, byte for byte`, () => {
      assert.equal(Buffer.from(encodeProtobuf(findType(typeName), object)).toString('hex'), hex)
    })
  }

  // Machines are a custom resource, which protobuf does not carry.
  const carried = allTypes().filter(({name, object}) => object && !name.startsWith('machine/'))
  for (const type of carried) {
    it(`brings every ${type.name} through as JSON would`, () => {
      fc.assert(
        fc.property(arbitraryObject(type), (sent) => {
          const viaJson = conform(type, sent).object
          assert.deepEqual(roundTrip(type.name, viaJson), viaJson)
        }),
        {numRuns: 25},
      )
    })
  }

  it('keeps a pointer to zero and drops a zero that is none', () => {
    const pod = roundTrip('core/v1.Pod', {
      metadata: {name: 'p', generation: 0},
      spec: {containers: [], terminationGracePeriodSeconds: 0, hostNetwork: false},
    })
    assert.deepEqual(pod, {
      metadata: {name: 'p'},
      spec: {containers: null, terminationGracePeriodSeconds: 0},
      status: {},
    })
  })

  it('reads packed numbers as it reads single ones', () => {
    const type = findType('core/v1.PodSecurityContext')
    const object = decodeMessage(type, bytesOf('22020102'))
    assert.deepEqual(object, {supplementalGroups: [1, 2]})
    assert.deepEqual(decodeMessage(type, bytesOf('20012002')), object)
  })

  it('skips fields that it does not know', () => {
    const {raw} = decodeEnvelope(bytesOf(captured[0]?.hex ?? ''))
    const extended = Buffer.concat([raw, bytesOf('fa3e03616263')])
    assert.deepEqual(decodeMessage(findType('core/v1.ConfigMap'), extended).data, {a: 'b'})
  })

  const malformed = [
    {name: 'nothing', hex: '', says: 'empty data'},
    {
      name: 'JSON',
      hex: Buffer.from('{}').toString('hex'),
      says: 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    },
    {name: 'the magic bytes alone', hex: '6b387300', says: 'empty body'},
    {name: 'a cut envelope', hex: '6b3873000a0f0a0276', says: 'unexpected EOF'},
    {name: 'a length beyond the end', hex: '6b3873000affffffff07', says: 'unexpected EOF'},
  ]
  for (const {name, hex, says} of malformed) {
    it(`refuses ${name}`, () => {
      assert.throws(() => decodeEnvelope(bytesOf(hex)), new MalformedError(says))
    })
  }

  it('refuses a message that reaches beyond the one around it', () => {
    const type = findType('core/v1.ConfigMap')
    assert.throws(() => decodeMessage(type, bytesOf('0a040a0a4142')), MalformedError)
  })

  it('refuses a field of the wrong wire type', () => {
    const type = findType('core/v1.ConfigMap')
    assert.throws(
      () => decodeMessage(type, bytesOf('0801')),
      new MalformedError('proto: wrong wireType = 0 for field metadata'),
    )
  })

  const floods = [
    {name: 'items of a list', hex: '7200', around: '0a'},
    {name: 'empty structs', hex: '0a00', around: ''},
    {name: 'entries of a map', hex: '5a00', around: '0a'},
    {name: 'fields that it does not know', hex: '7800', around: ''},
  ]
  for (const {name, hex, around} of floods) {
    it(`builds no million ${name}`, () => {
      const many = Buffer.from(hex.repeat(1_000_000), 'hex')
      const length = Buffer.from('80897a', 'hex')
      const body = around === '' ? many : Buffer.concat([bytesOf(around), length, many])
      assert.throws(() => decodeMessage(findType('core/v1.ConfigMap'), body), {
        code: 413,
        message: 'Request entity too large: limit is 100000 fields in a protobuf message',
      })
    })
  }

  it('parses no million values of raw JSON, in one piece or in several', () => {
    const raw = (values: number) => {
      const {managedFields} = {managedFields: [{fieldsV1: {a: new Array(values).fill(0)}}]}
      return encodeProtobuf(findType('core/v1.ConfigMap'), {metadata: {managedFields}})
    }
    const read = (...parts: Uint8Array[]) =>
      decodeMessage(
        findType('core/v1.ConfigMap'),
        Buffer.concat(parts.map((one) => decodeEnvelope(one).raw)),
      )
    read(raw(40_000), raw(40_000))
    assert.throws(() => read(raw(1_000_000)), {code: 413})
    assert.throws(() => read(raw(40_000), raw(40_000), raw(40_000)), {code: 413})
  })

  it('never fails otherwise than by a MalformedError, whatever the bytes', () => {
    const type = findType('core/v1.Pod')
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 64}), (bytes) => {
        try {
          decodeMessage(type, bytes)
        } catch (error) {
          assert.ok(error instanceof MalformedError)
        }
      }),
      {numRuns: 2000},
    )
  })
})
