import type {Event as StoredEvent, ObjectReference} from '../../api/core.ts'
import type {Received} from '../../api/meta.ts'
import type {FieldError} from '../kernel/field-error.ts'
import {invalidValue, required} from '../kernel/field-error.ts'
import {qualifiedName} from '../validation/names.ts'
import {checkWith} from '../validation/values.ts'
import {ageOf} from '../table/human-duration.ts'
import {column, defineResource, firstNonEmpty, NAME, wideColumn} from './define.ts'

export type Event = Received<StoredEvent>

const MOST_TEXT = 128
const MOST_MESSAGE = 1024

function validateNamespace({metadata, involvedObject, eventTime}: Event): FieldError[] {
  const about = involvedObject?.namespace ?? ''
  const own = metadata.namespace ?? ''
  const ofCluster = own === 'default' || (own === 'kube-system' && Boolean(eventTime))
  // Events with an eventTime may be about objects in other namespaces.
  const fits = about === '' ? ofCluster : own === about || Boolean(eventTime)
  return fits
    ? []
    : [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')]
}

function requiredText(field: string, value: string | undefined): FieldError[] {
  if (!value) return [required(field)]
  return value.length > MOST_TEXT
    ? [invalidValue(field, '', `can have at most ${MOST_TEXT} characters`)]
    : []
}

/** Only events with an eventTime, which new clients send, have to say who reports what. */
function validateCreate(event: Event): FieldError[] {
  if (!event.eventTime) return []
  const message = event.message ?? ''
  return [
    ...(event.reportingComponent ? [] : [required('reportingController')]),
    ...checkWith(qualifiedName, 'reportingController', event.reportingComponent ?? ''),
    ...requiredText('reportingInstance', event.reportingInstance),
    ...requiredText('action', event.action),
    ...requiredText('reason', event.reason),
    ...(message.length > MOST_MESSAGE
      ? [invalidValue('message', '', `can have at most ${MOST_MESSAGE} characters`)]
      : []),
  ]
}

const firstSeen = ({firstTimestamp, eventTime}: Event, now: Date) =>
  ageOf(firstNonEmpty(firstTimestamp, eventTime), now)

function lastSeen(event: Event, now: Date): string {
  if (event.series) return ageOf(event.series.lastObservedTime, now)
  return event.lastTimestamp ? ageOf(event.lastTimestamp, now) : firstSeen(event, now)
}

function objectText({involvedObject: {kind = '', name = ''} = {}}: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`
}

function sourceText({source, reportingComponent = '', reportingInstance = ''}: Event): string {
  const component = firstNonEmpty(source?.component, reportingComponent)
  const instance = firstNonEmpty(source?.host, reportingInstance)
  return instance === '' ? component : `${component}, ${instance}`
}

const involved = (field: keyof ObjectReference) => (event: Event) =>
  event.involvedObject?.[field] ?? ''

export const events = defineResource<Event>({
  plural: 'events',
  type: 'core/v1.Event',
  shortNames: ['ev'],
  namespaced: true,
  writtenByNodes: true,
  // Its message has at most 1 kB if clients follow the rules; the rest is references.
  mostBytes: 32 * 1024,
  createOnUpdate: true,
  strategy: {validate: validateNamespace, validateCreate},
  fields: {
    'involvedObject.kind': involved('kind'),
    'involvedObject.namespace': involved('namespace'),
    'involvedObject.name': involved('name'),
    'involvedObject.uid': involved('uid'),
    'involvedObject.apiVersion': involved('apiVersion'),
    'involvedObject.resourceVersion': involved('resourceVersion'),
    'involvedObject.fieldPath': involved('fieldPath'),
    reason: ({reason = ''}) => reason,
    reportingComponent: ({reportingComponent = ''}) => reportingComponent,
    source: ({source, reportingComponent}) => firstNonEmpty(source?.component, reportingComponent),
    type: ({type = ''}) => type,
  },
  columns: [
    column('Last Seen', 'The time since it last happened.', lastSeen),
    column('Type', 'Normal, or Warning.', ({type = ''}) => type),
    column('Reason', 'What happened, in a word.', ({reason = ''}) => reason),
    column('Object', 'What it is about.', objectText),
    wideColumn('Subobject', 'The part of the object that it is about.', involved('fieldPath')),
    wideColumn('Source', 'Who reports it.', sourceText),
    column('Message', 'What happened, in a sentence.', ({message = ''}) => message.trim()),
    wideColumn('First Seen', 'The time since it first happened.', firstSeen),
    wideColumn('Count', 'How often it happened.', ({series, count}) =>
      series ? (series.count ?? 0) : (count ?? 1),
    ),
    {...NAME, priority: 1},
  ],
})
