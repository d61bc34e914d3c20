import {X509Certificate, createPrivateKey} from 'node:crypto'
import type {Secret} from '../../api/core.ts'
import {ACCOUNT_NAME, ACCOUNT_TOKEN_TYPE} from '../../csr/bootstrapper.ts'
import {messageOf} from '../../errors.ts'
import {jsonSyntaxFault} from '../codec/json-syntax.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue, required, tooLong} from '../kernel/field-error.ts'
import {jsonKind} from '../kernel/json-value.ts'
import type {OperationContext} from '../kernel/resource.ts'
import {immutableField, checkWith} from '../validation/values.ts'
import {configKey} from '../validation/names.ts'
import {AGE, column, defineResource, NAME} from './define.ts'
import {MOST_DATA_BYTES, base64Size, validateFrozen} from './configmaps.ts'

const TLS = 'kubernetes.io/tls'

/** stringData is write-only: it is moved into data. */
function defaults(secret: Secret): void {
  if (secret.stringData !== undefined) {
    const encoded = Object.entries(secret.stringData).map(
      ([key, text]) => [key, Buffer.from(text).toString('base64')] as const,
    )
    secret.data = {...secret.data, ...Object.fromEntries(encoded)}
    delete secret.stringData
  }
  if (secret.type === undefined || secret.type === '') secret.type = 'Opaque'
}

function validateJsonKey({data = {}}: Secret, key: string): FieldError[] {
  const encoded = data[key]
  if (encoded === undefined) return [required(`data[${key}]`)]
  const bytes = Buffer.from(encoded, 'base64')
  const why = jsonSyntaxFault(bytes) ?? objectFault(JSON.parse(bytes.toString()))
  return why === undefined ? [] : [invalidValue(`data[${key}]`, '<secret contents redacted>', why)]
}

/** In Go's words; null counts as an empty object there. */
function objectFault(value: unknown): string | undefined {
  if (typeof value === 'object' && !Array.isArray(value)) return undefined
  return `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`
}

const requiredKeys = ({data = {}}: Secret, keys: string[]) =>
  keys.filter((key) => !(key in data)).map((key) => required(`data[${key}]`))

/** What the built-in types require; a bootstrap token's Secret is not checked. */
const TYPE_RULES: Record<string, (secret: Secret) => FieldError[]> = {
  [ACCOUNT_TOKEN_TYPE]: ({metadata}) =>
    metadata.annotations?.[ACCOUNT_NAME] ? [] : [required(`metadata.annotations[${ACCOUNT_NAME}]`)],
  'kubernetes.io/dockercfg': (secret) => validateJsonKey(secret, '.dockercfg'),
  'kubernetes.io/dockerconfigjson': (secret) => validateJsonKey(secret, '.dockerconfigjson'),
  'kubernetes.io/basic-auth': ({data = {}}) =>
    'username' in data || 'password' in data
      ? []
      : [required('data[username]'), required('data[password]')],
  'kubernetes.io/ssh-auth': (secret) => requiredKeys(secret, ['ssh-privatekey']),
  [TLS]: (secret) => requiredKeys(secret, ['tls.crt', 'tls.key']),
}

/** A certificate and key that do not match are stored, with a warning. */
function warnOfMismatch({data = {}}: Secret, {warn}: OperationContext): void {
  const [certificate, key] = ['tls.crt', 'tls.key'].map((name) =>
    Buffer.from(data[name] ?? '', 'base64'),
  )
  if (!certificate?.length || !key?.length) return
  try {
    if (new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return
    warn('tls: private key does not match public key')
  } catch (error) {
    warn(`tls: ${messageOf(error)}`)
  }
}

function validate(secret: Secret, context: OperationContext): FieldError[] {
  const {data = {}, type = ''} = secret
  if (type === TLS) warnOfMismatch(secret, context)
  const size = Object.values(data).reduce((sum, text) => sum + base64Size(text), 0)
  return [
    ...Object.keys(data).flatMap((key) => checkWith(configKey, `data[${key}]`, key)),
    ...(size > MOST_DATA_BYTES ? [tooLong('data', MOST_DATA_BYTES)] : []),
    ...(Object.hasOwn(TYPE_RULES, type) ? (TYPE_RULES[type]?.(secret) ?? []) : []),
  ]
}

export const secrets = defineResource<Secret>({
  plural: 'secrets',
  type: 'core/v1.Secret',
  namespaced: true,
  strategy: {
    defaults,
    validate,
    validateUpdate: (secret, old) => [
      ...immutableField('type', secret.type, old.type),
      ...validateFrozen(secret, old, ['data']),
    ],
  },
  fields: {type: ({type = ''}) => type},
  columns: [
    NAME,
    column('Type', 'What the secret is for.', ({type = ''}) => type),
    column('Data', 'How many keys it has.', ({data = {}}) => Object.keys(data).length),
    AGE,
  ],
})
