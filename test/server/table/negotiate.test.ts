import assert from 'node:assert/strict'

import {negotiate, negotiatePlain} from '../../../src/server/table/negotiate.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const KUBECTL = `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`

const choices = [
  ['', {as: 'object'}],
  ['*/*', {as: 'object'}],
  ['application/json', {as: 'object'}],
  ['application/json, */*', {as: 'object'}],
  ['application/vnd.kubernetes.protobuf', {as: 'object'}],
  ['application/vnd.kubernetes.protobuf,application/json', {as: 'object'}],
  ['text/html', {as: 'object'}],
  [KUBECTL, {as: 'table', version: 'v1'}],
  ['application/json; as=Table; v=v1beta1; g=meta.k8s.io', {as: 'table', version: 'v1beta1'}],
  [`application/json;q=0.5,${TABLE};q=0.9`, {as: 'table', version: 'v1'}],
  ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', {as: 'object'}],
  [
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    {as: 'partial', version: 'v1', list: false, bareItems: false},
  ],
  [
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    {as: 'partial', version: 'v1', list: true, bareItems: true},
  ],
] as const

describe('the representation by Accept', () => {
  for (const [accept, representation] of choices) {
    it(`of "${accept}" is ${JSON.stringify(representation)}`, () => {
      assert.deepEqual(negotiate(accept), representation)
      assert.deepEqual(negotiate(accept), representation)
    })
  }

  it('is the object without the header', () => {
    assert.deepEqual(negotiate(undefined), {as: 'object'})
  })

  it('is refused where only unknown conversions are asked for', () => {
    assert.throws(() => negotiate('application/json;as=Chart;v=v1;g=meta.k8s.io'), {
      code: 406,
      message:
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    })
  })

  it('is refused for a header that is too long to take apart', () => {
    for (const one of [';', ',', `${TABLE},`])
      assert.throws(() => negotiate(one.repeat(50_000)), {
        code: 400,
        message: 'the Accept header is too long: limit is 4096 characters',
      })
  })

  it('is still right after many different headers', () => {
    for (let index = 0; index < 200; index += 1) negotiate(`application/json;x=${index}`)
    assert.deepEqual(negotiate(`${TABLE};pretty=1`), {as: 'table', version: 'v1'})
  })
})

describe('the representation of what cannot be converted', () => {
  it('is the object where the caller takes it too', () => {
    assert.deepEqual(negotiatePlain(KUBECTL), {as: 'object'})
    assert.deepEqual(negotiatePlain(undefined), {as: 'object'})
  })

  it('is refused where the caller takes only a Table', () => {
    assert.throws(() => negotiatePlain(TABLE), {code: 406})
  })
})
