import type {State} from './history.ts'

export interface SeenEvent {
  revision: number
  key: string
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  value: string | undefined
}

/** What one watcher saw without a break: everything after `from`, up to `to`. */
export interface Segment {
  watcher: string
  from: number
  to: number
  events: SeenEvent[]
}

const text = ({revision, key, type, value}: SeenEvent): string =>
  `${revision} ${type} ${key} ${value ?? ''}`

/** All events that anybody saw, in order; and whether watchers contradict each other, or one saw less or more than the others. */
export function checkWatches(segments: readonly Segment[]): {
  events: SeenEvent[]
  faults: string[]
} {
  const faults: string[] = []
  const known = new Map<number, SeenEvent>()
  for (const {watcher, from, to, events} of segments) {
    let last = from
    for (const event of events) {
      if (event.revision <= last) faults.push(`${watcher} saw ${text(event)} after ${last}`)
      last = Math.max(last, event.revision)
      const other = known.get(event.revision)
      if (other && text(other) !== text(event))
        faults.push(`${watcher} saw ${text(event)}, another one ${text(other)}`)
      known.set(event.revision, event)
    }
    if (last > to) faults.push(`${watcher} was told that all is seen up to ${to}, and saw ${last}`)
  }
  const events = [...known.values()].sort((one, other) => one.revision - other.revision)
  for (const {watcher, from, to, events: seen} of segments) {
    const own = new Set(seen.map(({revision}) => revision))
    for (const event of events)
      if (event.revision > from && event.revision <= to && !own.has(event.revision))
        faults.push(`${watcher} saw everything from ${from} to ${to} but ${text(event)}`)
  }
  return {events, faults: [...faults, ...checkTypes(events)]}
}

/** Nothing is added twice, or changed where it is not there. */
function checkTypes(events: readonly SeenEvent[]): string[] {
  const present = new Set<string>()
  return events.flatMap((event) => {
    const isRight = present.has(event.key) !== (event.type === 'ADDED')
    if (event.type === 'DELETED') present.delete(event.key)
    else present.add(event.key)
    return isRight ? [] : [`${text(event)} does not follow from the event before`]
  })
}

/** The states of each key. */
export function timelinesOf(
  events: readonly SeenEvent[],
  keys: readonly string[],
): Map<string, State[]> {
  const timelines = new Map<string, State[]>(keys.map((key) => [key, []]))
  for (const {key, revision, type, value} of events)
    timelines.get(key)?.push({revision, value: type === 'DELETED' ? undefined : value})
  return timelines
}
