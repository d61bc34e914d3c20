import type {Status, StatusCause, StatusDetails} from '../../api/meta.ts'
import {abbreviate, encodedBytes} from './abbreviate.ts'
import type {FieldError} from './field-error.ts'

/** The limits of a Status, in bytes: the message repeats the causes, and the whole stays under 64 kB. */
const MOST_MESSAGE = 24 * 1024
const MOST_CAUSES = 24 * 1024
const MOST_CAUSES_NUMBER = 100
const MOST_NAME = 1024
/** The bytes of a cause besides its texts: reason, field name and punctuation. */
const CAUSE_FRAME = 100

/** A failure that is returned as a Kubernetes Status object. What it repeats of the request is cut to a limited size. */
export class StatusError extends Error {
  override name = 'StatusError'
  readonly status: Status
  readonly headers: Record<string, string>

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    details?: StatusDetails,
    headers: Record<string, string> = {},
  ) {
    const shortMessage = abbreviate(message, MOST_MESSAGE)
    super(shortMessage)
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: shortMessage,
      ...(reason === undefined ? {} : {reason}),
      ...(details === undefined ? {} : {details: shortened(details)}),
      code,
    }
    this.headers = headers
  }

  get code(): number {
    return this.status.code ?? 500
  }
}

function shortened({causes, ...details}: StatusDetails): StatusDetails {
  for (const name of ['name', 'group', 'kind', 'uid'] as const) {
    if (details[name] !== undefined) details[name] = abbreviate(details[name], MOST_NAME)
  }
  return causes === undefined ? details : {...details, causes: firstCauses(causes)}
}

/** As many causes as fit, each cut if it is too long. */
function firstCauses<Cause extends StatusCause>(causes: readonly Cause[]): Cause[] {
  const kept: Cause[] = []
  let room = MOST_CAUSES
  for (const cause of causes.slice(0, MOST_CAUSES_NUMBER)) {
    const message = abbreviate(cause.message ?? '', MOST_CAUSES / 2)
    const field = abbreviate(cause.field ?? '', MOST_NAME)
    room -= encodedBytes(message) + encodedBytes(field) + CAUSE_FRAME
    if (room < 0) break
    kept.push({
      ...cause,
      ...(cause.message === undefined ? {} : {message}),
      ...(cause.field === undefined ? {} : {field}),
    })
  }
  return kept
}

/** A resource by group and plural, as error messages name it. */
export interface GroupResource {
  group: string
  plural: string
}

const qualified = (name: string, group: string) => (group === '' ? name : `${name}.${group}`)

const objectDetails = ({group, plural}: GroupResource, name: string): StatusDetails => ({
  ...(name === '' ? {} : {name}),
  ...(group === '' ? {} : {group}),
  kind: plural,
})

export const badRequest = (message: string) => new StatusError(400, 'BadRequest', message)

/** The caller never learns why; `cause` is for the audit log. */
export const unauthorized = (cause?: unknown) =>
  Object.assign(new StatusError(401, 'Unauthorized', 'Unauthorized'), {cause})

/** Refused by authorization or admission; `resource` is absent for paths that are not resources. */
export function forbidden(
  resource: GroupResource | undefined,
  name: string,
  why: string,
): StatusError {
  if (resource === undefined) return new StatusError(403, 'Forbidden', `forbidden: ${why}`, {})
  const subject = qualified(resource.plural, resource.group)
  const message =
    name === '' ? `${subject} is forbidden: ${why}` : `${subject} "${name}" is forbidden: ${why}`
  return new StatusError(403, 'Forbidden', message, objectDetails(resource, name))
}

export const notFound = (resource: GroupResource, name: string) =>
  new StatusError(
    404,
    'NotFound',
    `${qualified(resource.plural, resource.group)} "${name}" not found`,
    objectDetails(resource, name),
  )

/** A path under a served prefix that names no resource. */
export const unknownResource = () =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})

export const methodNotAllowed = () =>
  new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  )

export const notAcceptable = (accepted: string[]) =>
  new StatusError(
    406,
    'NotAcceptable',
    `only the following media types are accepted: ${accepted.join(', ')}`,
    {},
  )

export const alreadyExists = (resource: GroupResource, name: string) =>
  new StatusError(
    409,
    'AlreadyExists',
    `${qualified(resource.plural, resource.group)} "${name}" already exists`,
    objectDetails(resource, name),
  )

export const conflict = (resource: GroupResource, name: string, why: string) =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource.plural, resource.group)} "${name}": ${why}`,
    objectDetails(resource, name),
  )

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again'

export const expired = (message: string) => new StatusError(410, 'Expired', message)

export const tooLarge = (message: string) => new StatusError(413, 'RequestEntityTooLarge', message)

/** The store is full. */
export const insufficientStorage = (message: string) =>
  new StatusError(507, 'InsufficientStorage', message)

export const unsupportedMediaType = (message: string, details?: StatusDetails) =>
  new StatusError(415, 'UnsupportedMediaType', message, details)

/** One or more fields are invalid: names the first ones, and how many more there are. */
export function invalid(
  kind: {group: string; kind: string},
  name: string,
  errors: FieldError[],
): StatusError {
  const causes = firstCauses(errors)
  // As Kubernetes: a cause that two checks found is named twice in the details, but once in the message.
  const texts = [...new Set(causes.map((error) => `${error.field}: ${error.message}`))]
  if (errors.length > causes.length) texts.push(`and ${errors.length - causes.length} more`)
  const list = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
  const shortName = abbreviate(name, MOST_NAME)
  return new StatusError(
    422,
    'Invalid',
    `${qualified(kind.kind, kind.group)} "${shortName}" is invalid: ${list}`,
    {
      ...(name === '' ? {} : {name}),
      ...(kind.group === '' ? {} : {group: kind.group}),
      ...(kind.kind === '' ? {} : {kind: kind.kind}),
      causes: causes.map(({reason, message, field}) => ({reason, message, field})),
    },
  )
}

export const tooManyRequests = (
  seconds: number,
  message = 'too many requests, please try again later',
) =>
  new StatusError(
    429,
    'TooManyRequests',
    message,
    {retryAfterSeconds: seconds},
    {'Retry-After': String(seconds)},
  )

/** `reason` tells programs what the message tells people. */
export const internalError = (message: string, reason?: string) =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{...(reason !== undefined && {reason}), message}],
  })

export const unavailable = (message: string, seconds = 1) =>
  new StatusError(
    503,
    'ServiceUnavailable',
    message,
    {retryAfterSeconds: seconds},
    {
      'Retry-After': String(seconds),
    },
  )
