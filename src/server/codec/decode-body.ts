import type {ApiObject} from '../../api/meta.ts'
import {cannotBeHandled, expectedType, requireType, statedType} from './body-type.ts'
import type {ExpectedType} from './body-type.ts'
import {conform, MAX_FINDINGS, MOST_STEP} from './conform.ts'
import {jsonKind, type JsonObject} from '../kernel/json-value.ts'
import {DecodeError, MalformedError} from './decode-error.ts'
import {findDuplicateKeys, parseJson, type PathStep} from './json.ts'
import {decodeEnvelope, decodeMessage} from './protobuf.ts'
import {parseYaml} from './yaml.ts'
import {groupVersion} from '../kernel/resource.ts'

type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface BodyToDecode {
  bytes: Uint8Array
  /** The header as sent; JSON if absent. */
  contentType?: string | undefined
  /** The endpoint's type in the schema table, such as `core/v1.ConfigMap`. */
  type: string
  /** What to do about unknown fields and duplicate keys. `Warn` if absent. */
  fieldValidation?: FieldValidation
  /** As a custom resource: no protobuf, zero values kept. */
  custom?: boolean
}

export interface DecodedBody {
  /** Known fields only, as Go would write them; kind and apiVersion are those of the endpoint. */
  object: ApiObject
  /** Unknown fields and duplicate keys, for Warning headers. */
  warnings: string[]
}

/** A parsed body, before its type is checked. */
interface ReadBody {
  value: JsonObject
  /** What a strict decoder reports, given the unknown fields; called only if it is needed. */
  findings: (unknown: string[]) => string[]
}

const JSON_TYPE = 'application/json'
const YAML_TYPE = 'application/yaml'
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'
const SUMMARY_BYTES = 30
const MOST_PATH = 1024
const GO_TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** Reads a request's body as kube-apiserver does. Throws a DecodeError with the message for the response. */
export async function decodeBody(body: BodyToDecode): Promise<DecodedBody> {
  const expected = expectedType(body.type)
  const read = readerFor(body)
  let content: ReadBody
  let stated
  try {
    content = await read(body.bytes, expected)
    stated = statedType(content.value, expected)
  } catch (error) {
    throw error instanceof MalformedError ? unrecognized(error, expected, body.bytes) : error
  }
  requireType(stated, expected)

  content.value.kind = expected.kind
  content.value.apiVersion = groupVersion(expected)
  let conformed
  try {
    conformed = conform(expected.type, content.value, {custom: body.custom ?? false})
  } catch (error) {
    throw error instanceof MalformedError ? cannotBeHandled(stated, expected, error.message) : error
  }

  const findings =
    body.fieldValidation === 'Ignore' ? [] : limited(content.findings(conformed.unknown))
  if (body.fieldValidation === 'Strict' && findings.length > 0) {
    throw cannotBeHandled(stated, expected, `strict decoding error: ${findings.join(', ')}`)
  }
  return {object: conformed.object as ApiObject, warnings: findings}
}

/** Decodes an object as if its text had been read. The given object is not changed. */
export function decodeObject({
  object,
  type,
  custom = false,
}: Pick<BodyToDecode, 'type' | 'custom'> & {object: ApiObject}): ApiObject {
  const expected = expectedType(type)
  const value = {...object, kind: expected.kind, apiVersion: groupVersion(expected)}
  try {
    return conform(expected.type, value, {custom}).object as ApiObject
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error
    throw cannotBeHandled(statedType(value, expected), expected, error.message)
  }
}

type Read = (bytes: Uint8Array, expected: ExpectedType) => ReadBody | Promise<ReadBody>

function readerFor({contentType = '', custom = false}: BodyToDecode): Read {
  const [mediaType = ''] = contentType.split(';')
  switch (mediaType.trim().toLowerCase()) {
    case '':
    case JSON_TYPE:
      return readJson
    case YAML_TYPE:
      return readYaml
    case PROTOBUF_TYPE:
      if (!custom) return readProtobuf
  }
  const accepted = [JSON_TYPE, YAML_TYPE, ...(custom ? [] : [PROTOBUF_TYPE])].join(', ')
  throw new DecodeError(
    'unsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  )
}

function readJson(bytes: Uint8Array): ReadBody {
  try {
    const {value, hasDuplicates} = parseJson(bytes)
    return {
      value: requireObject(value),
      findings: (unknown) => [
        ...unknownFields(unknown),
        ...(hasDuplicates ? duplicateFields(bytes, unknown) : []),
      ],
    }
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error
    throw new MalformedError(`couldn't get version/kind; json parse error: ${error.message}`)
  }
}

async function readYaml(bytes: Uint8Array): Promise<ReadBody> {
  const {value, duplicates} = await parseYaml(bytes)
  return {
    value: requireObject(value),
    findings: (unknown) => [...duplicates, ...unknownFields(unknown)],
  }
}

/** Protobuf has no names to misspell, and a repeated field is not a duplicate. */
function readProtobuf(bytes: Uint8Array, expected: ExpectedType): ReadBody {
  const {apiVersion, kind, raw} = decodeEnvelope(bytes)
  const isExpected = kind === '' || kind === expected.kind
  const object = isExpected ? decodeMessage(expected.type, raw) : {}
  return {value: {...object, apiVersion, kind}, findings: () => []}
}

function requireObject(value: unknown): JsonObject {
  if (value === null || value === undefined) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as JsonObject
  throw new MalformedError(
    `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${GO_TYPE_META}`,
  )
}

const limited = (findings: string[]) => [...new Set(findings)].slice(0, MAX_FINDINGS)

const unknownFields = (paths: string[]) =>
  paths.map((path) => `unknown field ${JSON.stringify(path)}`)

/** Go does not look inside unknown fields. */
function duplicateFields(bytes: Uint8Array, unknown: string[]): string[] {
  return findDuplicateKeys(bytes, MAX_FINDINGS)
    .map(pathText)
    .filter((path) => !unknown.some((field) => isWithin(path, field)))
    .map((path) => `duplicate field ${JSON.stringify(path)}`)
}

const isWithin = (path: string, field: string) =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

/** The sender chooses depth and keys: what is too long to read is left out. */
function pathText(steps: PathStep[]): string {
  let text = ''
  for (const step of steps) {
    text += typeof step === 'number' ? `[${step}]` : `.${step.slice(0, MOST_STEP)}`
    if (text.length > MOST_PATH) return `${text.slice(1)}...`
  }
  return text.slice(1)
}

/** For a body of unknown kind: shows its beginning. */
function unrecognized(
  {message}: MalformedError,
  {kind}: ExpectedType,
  bytes: Uint8Array,
): DecodeError {
  return new DecodeError(
    'badRequest',
    `the object provided is unrecognized (must be of type ${kind}): ${message} (${summary(bytes)})`,
  )
}

function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const start = Buffer.from(bytes.subarray(0, SUMMARY_BYTES))
  const isText = start[0] === '{'.charCodeAt(0)
  return `${start.toString(isText ? 'utf8' : 'hex')}${bytes.length > SUMMARY_BYTES ? ' ...' : ''}`
}
