import assert from 'node:assert/strict'
import {findType} from '../../../src/api/schema/index.ts'
import {decodeBody} from '../../../src/server/codec/decode-body.ts'
import type {BodyToDecode} from '../../../src/server/codec/decode-body.ts'
import {encodeProtobuf} from './protobuf-encode.ts'

const decode = (body: string | Uint8Array, options: Partial<BodyToDecode> = {}) =>
  decodeBody({bytes: Buffer.from(body), type: 'core/v1.ConfigMap', ...options})

const refused = async (
  body: string | Uint8Array,
  message: string,
  options: Partial<BodyToDecode> = {},
  kind = 'badRequest',
) => {
  await assert.rejects(decode(body, options), {name: 'DecodeError', kind, message})
}

describe('decoding a body', () => {
  it('fills in kind and apiVersion where they are missing', async () => {
    const {object, warnings} = await decode('{"metadata":{"name":"x"},"data":{"a":"b"}}')
    assert.deepEqual(object, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {name: 'x'},
      data: {a: 'b'},
    })
    assert.deepEqual(Object.keys(object), ['kind', 'apiVersion', 'metadata', 'data'])
    assert.deepEqual(warnings, [])
  })

  it('reads the same object from JSON, YAML and protobuf', async () => {
    const object = {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'x'}, data: {a: 'b'}}
    const bodies: [contentType: string, bytes: string | Uint8Array][] = [
      ['application/json; charset=utf-8', JSON.stringify(object)],
      ['application/yaml', 'metadata:\n  name: x\ndata:\n  a: b\n'],
      [
        'application/vnd.kubernetes.protobuf',
        encodeProtobuf(findType('core/v1.ConfigMap'), object),
      ],
    ]
    for (const [contentType, bytes] of bodies) {
      assert.deepEqual((await decode(bytes, {contentType})).object, object, contentType)
    }
  })

  it('takes DeleteOptions of any version, with or without a kind', async () => {
    const type = 'meta/v1.DeleteOptions'
    const bodies = [
      '{"propagationPolicy":"Background"}',
      '{"kind":"DeleteOptions","apiVersion":"certificates.k8s.io/v1","propagationPolicy":"Background"}',
    ]
    for (const body of bodies) {
      const {object} = await decode(body, {type})
      assert.equal(object.propagationPolicy, 'Background')
    }
    await refused(
      '{"kind":"Pod","apiVersion":"v1"}',
      'decoded object cannot be converted to DeleteOptions: it is a Pod',
      {type},
    )
  })

  it('refuses a value of the wrong type', () =>
    refused(
      '{"metadata":{"generateName":"gen-"},"data":{"x":1}}',
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ))

  it('refuses what is no JSON', () =>
    refused(
      '{bad json',
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string ({bad json)",
    ))

  it('refuses an empty body', () =>
    refused(
      '',
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ))

  it('shows no more than the beginning of a long body', () =>
    refused(
      `{"data": ${'x'.repeat(100)}`,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of value ({\"data\": xxxxxxxxxxxxxxxxxxxxx ...)",
    ))

  it('shows a body that is no object in hex', () =>
    refused(
      'abc',
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'a' looking for beginning of value (616263)",
    ))

  it('refuses a list', () =>
    refused(
      '[]',
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
    ))

  it('refuses a kind that is no text', () =>
    refused(
      '{"kind":1}',
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})',
    ))

  it('refuses another kind', () =>
    refused(
      '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}',
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ))

  it('refuses another kind in protobuf too', () =>
    refused(
      encodeProtobuf(findType('core/v1.Secret'), {kind: 'Secret', apiVersion: 'v1'}),
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
      {contentType: 'application/vnd.kubernetes.protobuf'},
    ))

  it('refuses a kind that nobody knows', () =>
    refused(
      '{"kind":"ConfigMap","apiVersion":"apps/v1"}',
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ))

  it('refuses another version of the same kind', () =>
    refused(
      '{"kind":"CertificateSigningRequest","apiVersion":"certificates.k8s.io/v1"}',
      'the API version in the data (certificates.k8s.io/v1) does not match the expected API version (certificates.k8s.io/v1beta1)',
      {type: 'certificates/v1beta1.CertificateSigningRequest'},
    ))

  it('refuses protobuf that is none', () =>
    refused(
      '{}',
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})',
      {contentType: 'application/vnd.kubernetes.protobuf'},
    ))

  it('refuses media types that it does not know', async () => {
    const accepted = 'application/json, application/yaml'
    const text = 'the body of the request was in an unknown format - accepted media types include: '
    await refused(
      'hello',
      `${text}${accepted}, application/vnd.kubernetes.protobuf`,
      {contentType: 'text/plain'},
      'unsupportedMediaType',
    )
    await refused(
      '',
      `${text}${accepted}`,
      {
        type: 'machine/v1beta1.Machine',
        custom: true,
        contentType: 'application/vnd.kubernetes.protobuf',
      },
      'unsupportedMediaType',
    )
  })

  describe('with unknown and repeated fields', () => {
    const body = '{"metadata":{"foo":1,"name":"x"},"bar":{"q":1,"q":2},"data":{"a":"1","a":"2"}}'
    const findings = [
      'unknown field "metadata.foo"',
      'unknown field "bar"',
      'duplicate field "data.a"',
    ]

    it('warns of them unless told otherwise', async () => {
      const {object, warnings} = await decode(body)
      assert.deepEqual(warnings, findings)
      assert.deepEqual(object.data, {a: '2'})
    })

    it('refuses them when it is strict', () =>
      refused(
        body,
        `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${findings.join(', ')}`,
        {fieldValidation: 'Strict'},
      ))

    it('says nothing when it is told to ignore them', async () => {
      assert.deepEqual((await decode(body, {fieldValidation: 'Ignore'})).warnings, [])
    })

    it('tells of repeated keys in YAML by their lines', () =>
      refused(
        'data:\n  a: b\n  a: c\nfoo: 1\n',
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 3: key "a" already set in map, unknown field "foo"',
        {fieldValidation: 'Strict', contentType: 'application/yaml'},
      ))

    it('reports no more than a hundred', async () => {
      const many = Object.fromEntries(Array.from({length: 500}, (_, index) => [`f${index}`, 1]))
      assert.equal((await decode(JSON.stringify(many))).warnings.length, 100)
    })
  })
})
