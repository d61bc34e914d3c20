/** One request, and what a Kubernetes server answers to it. */
export interface Step {
  says: string
  /** Method and path; `$ns` is the namespace of the chapter, other `$names` are what earlier steps kept. */
  ask: string
  /** The content type of the body; JSON where absent. */
  type?: string
  accept?: string
  /** Sent as it is where it is text. */
  body?: unknown
  headers?: Record<string, string>
  /** With no certificate. */
  anonymous?: boolean
  /** Keeps parts of the answer, by path, for later steps. */
  keep?: Record<string, string>
  /** Shows who owns which fields. */
  owners?: boolean
  /** Looks at this part of the answer alone, by path: others work on the object too. */
  part?: string
  /** May be played at the same time as its neighbours that may, too. */
  together?: boolean
  answer: Answer
}

export type Request = Omit<Step, 'answer' | 'says'>

export interface Answer {
  code: number
  /** An object, text, or the lines of a watch. */
  body: unknown
  /** Warning headers. */
  warnings?: string[]
}

export interface Chapter {
  name: string
  steps: Step[]
}

/** A Status that says what went wrong. */
export const failure = (
  code: number,
  reason: string,
  message: string,
  details?: object,
): Answer => ({
  code,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details ? {details} : {}),
    code,
  },
})

/** Fields that are wrong: each with its path, the reason and what is said of it. */
export function invalid(
  subject: string,
  name: string,
  ...causes: [field: string, reason: string, message: string][]
): Answer {
  const dot = subject.indexOf('.')
  const [kind, group] = dot < 0 ? [subject, ''] : [subject.slice(0, dot), subject.slice(dot + 1)]
  // A cause that two checks find is named once.
  const texts = [...new Set(causes.map(([field, , message]) => `${field}: ${message}`))]
  const list = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`
  return failure(422, 'Invalid', `${subject} "${name}" is invalid: ${list}`, {
    ...(name === '' ? {} : {name}),
    ...(group === '' ? {} : {group}),
    kind,
    causes: causes.map(([field, reason, message]) => ({reason, message, field})),
  })
}

/** The Status of an object that is gone. */
export const deleted = (plural: string, name: string): Answer => ({
  code: 200,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {name, kind: plural, uid: 'UID'},
  },
})

/** The metadata of a stored object in the chapter's namespace. */
export const stored = (name: string, more: object = {}): object => ({
  name,
  namespace: '$ns',
  uid: 'UID',
  resourceVersion: 'X',
  creationTimestamp: 'TIME',
  ...more,
})
