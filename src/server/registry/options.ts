import {forbiddenField, invalidValue, notSupported, type FieldError} from '../kernel/field-error.ts'
import {badRequest, invalid, StatusError} from '../kernel/status.ts'

export interface ListOptions {
  labelSelector: string
  fieldSelector: string
  /** 0: no limit. */
  limit: number
  continue: string
  resourceVersion: string
  resourceVersionMatch: string
  watch: boolean
  allowWatchBookmarks: boolean
  sendInitialEvents: boolean | undefined
  timeoutSeconds: number | undefined
}

const META_GROUP = 'meta.k8s.io'

/** As Kubernetes reads a number in a query. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return value
}

/** As Kubernetes reads a boolean in a query: everything but `false` and `0` is true. */
function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  return text.toLowerCase() !== 'false' && text !== '0'
}

const isWatch = (query: URLSearchParams) => boolean(query, 'watch') === true

export function listOptions(query: URLSearchParams, watching = isWatch(query)): ListOptions {
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    limit: Math.max(0, integer(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    watch: watching,
    allowWatchBookmarks: boolean(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: boolean(query, 'sendInitialEvents'),
    timeoutSeconds: integer(query, 'timeoutSeconds'),
  }
  const errors = watching ? watchErrors(options) : listErrors(options)
  if (errors.length > 0) throw invalid({group: META_GROUP, kind: 'ListOptions'}, '', errors)
  return options
}

const MATCH = 'resourceVersionMatch'

function matchErrors(options: ListOptions): FieldError[] {
  const match = options.resourceVersionMatch
  const errors: FieldError[] = []
  if (match === '') return errors
  if (options.resourceVersion === '' && options.sendInitialEvents === undefined) {
    errors.push(
      forbiddenField(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    )
  }
  if (options.continue !== '')
    errors.push(
      forbiddenField(MATCH, 'resourceVersionMatch is forbidden when continue is provided'),
    )
  if (match !== 'Exact' && match !== 'NotOlderThan')
    errors.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']))
  return errors
}

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  if (options.sendInitialEvents !== undefined)
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  errors.push(...matchErrors(options))
  if (options.resourceVersionMatch === 'Exact' && options.resourceVersion === '0') {
    errors.push(
      forbiddenField(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    )
  }
  return errors
}

function watchErrors(options: ListOptions): FieldError[] {
  const match = options.resourceVersionMatch
  if (options.sendInitialEvents !== undefined) {
    if (match === 'NotOlderThan') return []
    return [
      forbiddenField(
        MATCH,
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    ]
  }
  if (match === '') return []
  return [
    forbiddenField(
      MATCH,
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ),
  ]
}

type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

export interface WriteOptions {
  dryRun: boolean
  fieldValidation: FieldValidation
  /** Empty: taken from the User-Agent. */
  fieldManager: string
  force: boolean | undefined
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'

/** An absent or empty fieldValidation warns, as the real server's default does. */
export function writeOptions(query: URLSearchParams, kind: OptionsKind): WriteOptions {
  const errors = dryRunErrors(query.getAll('dryRun'))
  const fieldManager = query.get('fieldManager') ?? ''
  if (Buffer.byteLength(fieldManager) > 128) {
    errors.push({
      field: 'fieldManager',
      reason: 'FieldValueTooLong',
      message: 'Too long: may not be more than 128 bytes',
    })
  } else if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(fieldManager)) {
    errors.push(
      invalidValue('fieldManager', fieldManager, 'should only contain printable characters'),
    )
  }
  const validation = query.get('fieldValidation') ?? ''
  const supported = ['', 'Ignore', 'Strict', 'Warn']
  if (!supported.includes(validation))
    errors.push(notSupported('fieldValidation', validation, supported))
  if (errors.length > 0) throw invalid({group: META_GROUP, kind}, '', errors)
  return {
    dryRun: query.getAll('dryRun').includes('All'),
    fieldValidation: validation === '' ? 'Warn' : (validation as FieldValidation),
    fieldManager,
    force: boolean(query, 'force'),
  }
}

/** Apply patches must name the field manager; other patches cannot be forced. */
export function requireApplyOptions(options: WriteOptions, apply: boolean): void {
  const errors: FieldError[] = []
  if (apply && options.fieldManager === '') {
    errors.push({
      field: 'fieldManager',
      reason: 'FieldValueRequired',
      message: 'Required value: is required for apply patch',
    })
  }
  if (!apply && options.force !== undefined)
    errors.push(forbiddenField('force', 'may not be specified for non-apply patch'))
  if (errors.length > 0) throw invalid({group: META_GROUP, kind: 'PatchOptions'}, '', errors)
}

/** An empty value is refused: its sender may believe that nothing is stored. */
export const dryRunErrors = (values: string[]): FieldError[] =>
  values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])]

/** The number in a resourceVersion; 0 if it is empty. `fail` gets the message of Go's parser. */
export function parseNumber(text: string, fail: (problem: string) => StatusError): number {
  if (text === '') return 0
  const problem = /^\d+$/.test(text)
    ? Number.isSafeInteger(Number(text))
      ? undefined
      : 'value out of range'
    : 'invalid syntax'
  if (problem === undefined) return Number(text)
  throw fail(`strconv.ParseUint: parsing ${JSON.stringify(text)}: ${problem}`)
}

/** The resourceVersion of a request's options. */
export const parseResourceVersion = (text: string, fail: (message: string) => StatusError) =>
  parseNumber(text, (problem) =>
    fail(`resourceVersion: Invalid value: ${JSON.stringify(text)}: ${problem}`),
  )

/** `?timeout=10s` in milliseconds, as client-go sends it on any request. */
export function requestTimeout(query: URLSearchParams): number | undefined {
  const text = query.get('timeout')
  if (text === null || text === '') return undefined
  const parts =
    /^(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(
      text,
    )
  if (parts === null && text !== '0')
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`,
    )
  const [, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = (parts ?? []).map((part) =>
    Number(part || 0),
  )
  const total = hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + milliseconds
  return total === 0 ? undefined : total
}
