import assert from 'node:assert/strict'

import protobuf from 'protobufjs'

import {servedGroups} from '../../../src/server/discovery/served.ts'
import {encodeGnostic} from '../../../src/server/openapi/gnostic.ts'
import {openapiV2} from '../../../src/server/openapi/v2.ts'
import type {V2Document} from '../../../src/server/openapi/v2.ts'
import {SAMPLE_RESOURCES} from '../discovery/sample-resources.ts'

/** The messages as clients declare them, to read back by a second way what was written by hand. */
const CLIENT = protobuf
  .parse(
    `
syntax = "proto3";
message Document { string swagger = 1; Info info = 2; Paths paths = 8; Definitions definitions = 9; }
message Info { string title = 1; string version = 2; }
message Paths { repeated NamedPathItem path = 2; }
message NamedPathItem { string name = 1; PathItem value = 2; }
message PathItem { Operation get = 2; Operation put = 3; Operation post = 4; Operation delete = 5; Operation patch = 8; }
message Operation {
  repeated string tags = 1; string description = 3; string operation_id = 5; repeated string produces = 6;
  repeated string consumes = 7; repeated ParametersItem parameters = 8; Responses responses = 9;
  repeated NamedAny vendor_extension = 13;
}
message ParametersItem { Parameter parameter = 1; }
message Parameter { BodyParameter body_parameter = 1; NonBodyParameter non_body_parameter = 2; }
message BodyParameter { string name = 2; string in = 3; bool required = 4; Schema schema = 5; }
message NonBodyParameter { Query query_parameter_sub_schema = 3; Path path_parameter_sub_schema = 4; }
message Query { string in = 2; string description = 3; string name = 4; string type = 6; bool unique_items = 20; }
message Path { bool required = 1; string in = 2; string description = 3; string name = 4; string type = 5; }
message Responses { repeated NamedResponseValue response_code = 1; }
message NamedResponseValue { string name = 1; ResponseValue value = 2; }
message ResponseValue { Response response = 1; }
message Response { string description = 1; SchemaItem schema = 2; }
message SchemaItem { Schema schema = 1; }
message Definitions { repeated NamedSchema additional_properties = 1; }
message NamedSchema { string name = 1; Schema value = 2; }
message Schema {
  string _ref = 1; string format = 2; string description = 4; repeated string required = 19;
  AdditionalPropertiesItem additional_properties = 21; TypeItem type = 22; ItemsItem items = 23;
  Properties properties = 25; repeated NamedAny vendor_extension = 31;
}
message AdditionalPropertiesItem { Schema schema = 1; }
message TypeItem { repeated string value = 1; }
message ItemsItem { repeated Schema schema = 1; }
message Properties { repeated NamedSchema additional_properties = 1; }
message NamedAny { string name = 1; Any value = 2; }
message Any { string yaml = 2; }
`,
  )
  .root.lookupType('Document')

const read = (document: V2Document): Record<string, any> =>
  CLIENT.toObject(CLIENT.decode(encodeGnostic(document)))

const schemaOf = (schema: V2Document['definitions'][string]): unknown =>
  read({
    swagger: '2.0',
    info: {title: 't', version: 'v'},
    paths: {},
    definitions: {'a.B': schema},
  }).definitions.additionalProperties[0].value

describe("gnostic's protobuf", () => {
  it('names the document', () => {
    const document = read({
      swagger: '2.0',
      info: {title: 't', version: 'v'},
      paths: {},
      definitions: {},
    })
    assert.equal(document.swagger, '2.0')
    assert.deepEqual(document.info, {title: 't', version: 'v'})
  })

  it('keeps an object with its properties and extensions', () => {
    const schema = schemaOf({
      type: 'object',
      description: 'd',
      required: ['x'],
      properties: {x: {type: 'string', format: 'byte'}, y: {$ref: '#/definitions/c.D'}},
      'x-kubernetes-group-version-kind': [{group: '', version: 'v1', kind: 'B'}],
    })
    assert.deepEqual(schema, {
      type: {value: ['object']},
      description: 'd',
      required: ['x'],
      properties: {
        additionalProperties: [
          {name: 'x', value: {type: {value: ['string']}, format: 'byte'}},
          {name: 'y', value: {_ref: '#/definitions/c.D'}},
        ],
      },
      vendorExtension: [
        {
          name: 'x-kubernetes-group-version-kind',
          value: {yaml: '[{"group":"","version":"v1","kind":"B"}]'},
        },
      ],
    })
  })

  it('keeps lists and maps', () => {
    assert.deepEqual(schemaOf({type: 'array', items: {type: 'string'}}), {
      type: {value: ['array']},
      items: {schema: [{type: {value: ['string']}}]},
    })
    assert.deepEqual(schemaOf({type: 'object', additionalProperties: {type: 'integer'}}), {
      type: {value: ['object']},
      additionalProperties: {schema: {type: {value: ['integer']}}},
    })
  })

  it('keeps the parameters of an operation in the forms that kubectl looks for', () => {
    const document = read(openapiV2(servedGroups(SAMPLE_RESOURCES)))
    const item = (document.paths.path as any[]).find(
      ({name}) => name === '/api/v1/namespaces/{namespace}/configmaps/{name}',
    )
    const {patch} = item.value
    const parameters = (patch.parameters as {parameter: Record<string, any>}[]).map(
      ({parameter}) => parameter,
    )
    assert.equal(parameters[0]?.bodyParameter.name, 'body')
    assert.equal(parameters[1]?.nonBodyParameter.pathParameterSubSchema.name, 'name')
    const queries = parameters.flatMap(({nonBodyParameter}) =>
      nonBodyParameter?.queryParameterSubSchema
        ? [nonBodyParameter.queryParameterSubSchema.name as string]
        : [],
    )
    assert.ok(queries.includes('dryRun'))
    assert.deepEqual(JSON.parse(patch.vendorExtension[1].value.yaml), {
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
    })
    assert.equal(patch.responses.responseCode[0].name, '200')
    assert.equal(
      patch.responses.responseCode[0].value.response.schema.schema._ref,
      '#/definitions/io.k8s.api.core.v1.ConfigMap',
    )
  })

  it('refuses to lose what its table does not know', () => {
    assert.throws(() => schemaOf({oneOf: []}), RangeError)
  })
})
