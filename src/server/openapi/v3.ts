import type {ServedVersion} from '../discovery/served.ts'
import {V3_DIALECT, INFO, REASONS} from './dialect.ts'
import {componentsOf, operationsOf} from './operations.ts'
import type {Operation} from './operations.ts'
import type {Parameter} from './operation-shapes.ts'

const JSON_TYPE = 'application/json'

const reference = (name: string) => ({$ref: `#/components/schemas/${name}`})

const parameter = ({name, in: where, type, description}: Parameter) => ({
  name,
  in: where,
  description,
  ...(where === 'path' ? {required: true} : {}),
  schema: {type, ...(where === 'query' ? {uniqueItems: true} : {})},
})

const requestBody = ({definition, contentTypes, required}: NonNullable<Operation['body']>) => ({
  content: Object.fromEntries(
    contentTypes.map((contentType) => [contentType, {schema: reference(definition)}]),
  ),
  ...(required ? {required} : {}),
})

const responses = ({codes, answer}: Operation) => ({
  ...Object.fromEntries(
    codes.map((code) => [
      code,
      {description: REASONS[code] ?? '', content: {[JSON_TYPE]: {schema: reference(answer)}}},
    ]),
  ),
  401: {description: 'Unauthorized'},
})

const operationObject = (operation: Operation) => ({
  tags: [operation.tag],
  description: operation.description,
  operationId: operation.id,
  parameters: operation.parameters.map(parameter),
  ...(operation.body === undefined ? {} : {requestBody: requestBody(operation.body)}),
  responses: responses(operation),
  'x-kubernetes-action': operation.action,
  'x-kubernetes-group-version-kind': operation.gvk,
})

/** `/openapi/v3/…`: one group and version as OpenAPI 3.0. */
export function openapiV3({resources}: ServedVersion) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of resources.flatMap(operationsOf)) {
    const path = (paths[operation.path] ??= {})
    path[operation.method] = operationObject(operation)
  }
  return {
    openapi: '3.0.0',
    info: INFO,
    paths,
    components: {schemas: componentsOf(resources, V3_DIALECT)},
  }
}

/** How the v3 root names a group and version, and the path of its document. */
export const v3Key = ({group, version}: {group: string; version: string}) =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`

/** `/openapi/v3`: where each document is, with its hash, by which clients cache it. */
export const openapiV3Root = (
  documents: readonly {group: string; version: string; hash: string}[],
) => ({
  paths: Object.fromEntries(
    documents.map((document) => [
      v3Key(document),
      {serverRelativeURL: `/openapi/v3/${v3Key(document)}?hash=${document.hash}`},
    ]),
  ),
})
