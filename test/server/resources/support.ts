import type {ApiObject, UserInfo} from '../../../src/api/meta.ts'
import type {FieldError} from '../../../src/server/kernel/field-error.ts'
import type {OperationContext, Resource} from '../../../src/server/kernel/resource.ts'
import {RESOURCES} from '../../../src/server/resources/index.ts'

const NOW = new Date('2026-01-02T03:04:05.678Z')
export const NOW_TEXT = '2026-01-02T03:04:05Z'

export const ANN: UserInfo = {username: 'ann', groups: ['system:authenticated']}

/** A context over objects that are there already, each under its plural. */
export function contextOf(
  {
    objects = {},
    ...rest
  }: Partial<Omit<OperationContext, 'objects'>> & {objects?: Record<string, ApiObject[]>} = {},
  warnings: string[] = [],
): OperationContext {
  const all = (plural: string) => objects[plural] ?? []
  return {
    user: ANN,
    clock: {now: () => NOW},
    namespace: 'default',
    name: '',
    subresource: '',
    version: 'v1',
    dryRun: false,
    authorize: () => ({allowed: false, reason: ''}),
    objects: {
      get: (plural, _group, namespace, name) =>
        all(plural).find(
          ({metadata}) => metadata.name === name && (metadata.namespace ?? '') === namespace,
        ),
      list: (plural) => all(plural),
    },
    warn: (text) => warnings.push(text),
    ...rest,
  }
}

export function resource(plural: string): Resource {
  const row = RESOURCES.find((one) => one.plural === plural)
  if (row === undefined) throw new Error(`no row for ${plural}`)
  return row
}

export interface Sketch {
  metadata?: ApiObject['metadata']
  [field: string]: unknown
}

const object = (sketch: Sketch): ApiObject =>
  structuredClone({...sketch, metadata: {name: 'x', namespace: 'default', ...sketch.metadata}})

/** What the registry stores of a body: decoding's defaults, then the strategy. */
export function created(plural: string, sketch: Sketch, context = contextOf()): any {
  const {strategy} = resource(plural)
  const made = object(sketch)
  strategy.defaults?.(made)
  strategy.prepareForCreate?.(made, context)
  return made
}

export function createErrors(plural: string, sketch: Sketch, context = contextOf()): FieldError[] {
  const {strategy} = resource(plural)
  const made = created(plural, sketch, context)
  return [
    ...(strategy.validate?.(made, context) ?? []),
    ...(strategy.validateCreate?.(made, context) ?? []),
  ]
}

/** What an update leaves, and what is wrong with it. */
export function updated(
  plural: string,
  old: ApiObject,
  sketch: Sketch,
  context = contextOf(),
): {object: any; errors: FieldError[]} {
  const row = resource(plural)
  const strategy = row.subresources?.[context.subresource]?.strategy ?? row.strategy
  const made = object(sketch)
  row.strategy.defaults?.(made)
  strategy.prepareForUpdate?.(made, old, context)
  const errors = [
    ...(strategy.validate?.(made, context) ?? []),
    ...(strategy.validateUpdate?.(made, old, context) ?? []),
  ]
  return {object: made, errors}
}

export const texts = (errors: FieldError[]) =>
  errors.map(({field, message}) => `${field}: ${message}`)

/** The cells of a row, by the names of their columns. */
export function cells(plural: string, sketch: Sketch, now = NOW): Record<string, unknown> {
  const columns = resource(plural).columns ?? []
  const shown = object(sketch)
  return Object.fromEntries(columns.map(({name, value}) => [name, value(shown, now)]))
}
