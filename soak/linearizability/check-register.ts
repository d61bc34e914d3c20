import type {Listing, Operation, Read, State, Write} from './history.ts'

interface Placed {
  operation: Operation
  index: number | undefined
}

/**
 * Whether one key behaved as a register that does one thing at a time. `timeline` has all states in the order of their revisions. With that
 * order known, it is enough that each operation fits a state, and that nobody who began after another had ended got an older one.
 */
export function checkRegister(
  key: string,
  operations: readonly Operation[],
  timeline: readonly State[],
): string[] {
  const states: State[] = [{revision: 0}, ...timeline]
  const indexes = new Map(states.map(({revision}, index) => [revision, index]))
  const faults: string[] = []
  const say = (fault: string) => faults.push(`${key}: ${fault}`)
  const written = new Set<number>()
  const deleters = deletersOf(operations)

  const placeRead = ({state}: Read): number | undefined => {
    if (!state) return undefined
    const index = indexes.get(state.revision)
    if (index === undefined || states[index]?.value !== state.value)
      say(`a read saw ${shown(state)}, which was never there`)
    return index
  }
  /** Of a write that was not acknowledged, undefined if it was not done. */
  const placeWrite = (write: Write): number | undefined => {
    const {base, value, outcome, revision} = write
    const before = base === 0 ? undefined : indexes.get(base)
    const index =
      value === undefined
        ? deletionAfter(states, before)
        : states.findIndex((state) => state.value === value)
    const isDone = index !== undefined && index > 0
    if (outcome === 'acknowledged' && !isDone) {
      say(`the acknowledged write of ${value ?? 'nothing'} after ${base} is lost`)
      return undefined
    }
    // A deletion can be that of somebody else: see below.
    if (outcome === 'refused') {
      if (isDone && value !== undefined) say(`the write of ${value} was refused, and done`)
      return undefined
    }
    if (!isDone) return undefined
    if (value === undefined && deleters.get(base) !== write) {
      if (outcome === 'acknowledged') say(`the deletion of ${base} was acknowledged twice`)
      return undefined
    }
    written.add(index)
    const previous = states[index - 1]
    const isInPlace = base === 0 ? previous?.value === undefined : previous?.revision === base
    if (!isInPlace) say(`the write of ${value ?? 'nothing'} after ${base} has overwritten another`)
    if (revision !== undefined && states[index]?.revision !== revision)
      say(`the write of ${value ?? 'nothing'} was answered with ${revision}, and is at another`)
    return index
  }

  const placed: Placed[] = operations.map((operation) => ({
    operation,
    index: operation.kind === 'read' ? placeRead(operation) : placeWrite(operation),
  }))
  for (const [index, state] of states.entries())
    if (index > 0 && !written.has(index)) say(`nobody has written ${shown(state)}`)
  const counted = placed.filter(
    ({operation, index}) => operation.kind === 'read' || index !== undefined,
  )
  for (const fault of checkOrder(counted, states)) say(fault)
  return faults
}

/**
 * Who has deleted what was at a revision. Deletions look alike: one without an answer may be that of another client, who got one, or who
 * asked before.
 */
function deletersOf(operations: readonly Operation[]): Map<number, Write> {
  const deleters = new Map<number, Write>()
  for (const one of operations) {
    if (one.kind !== 'write' || one.value !== undefined || one.outcome === 'refused') continue
    const known = deleters.get(one.base)
    if (known?.outcome === 'acknowledged') continue
    const isBetter = !known || one.outcome === 'acknowledged' || one.start < known.start
    if (isBetter) deleters.set(one.base, one)
  }
  return deleters
}

function deletionAfter(states: readonly State[], before: number | undefined): number | undefined {
  const next = before === undefined ? undefined : before + 1
  const isDeletion = next !== undefined && next < states.length && !states[next]?.value
  return isDeletion ? next : undefined
}

/** Each operation is not before those that had ended when it began. A read of nothing gets the first place that fits. */
function checkOrder(placed: readonly Placed[], states: readonly State[]): string[] {
  const faults: string[] = []
  const byStart = [...placed].sort((one, other) => one.operation.start - other.operation.start)
  const byEnd = [...placed].sort((one, other) => one.operation.end - other.operation.end)
  let ended = 0
  let floor = 0
  for (const one of byStart) {
    const {kind, start} = one.operation
    for (; (byEnd[ended]?.operation.end ?? Infinity) < start; ended++)
      floor = Math.max(floor, byEnd[ended]?.index ?? 0)
    if (one.index === undefined) {
      const free = states.findIndex((state, index) => index >= floor && state.value === undefined)
      if (free < 0) faults.push(`a read saw nothing after ${shown(states[floor])} was seen`)
      else one.index = free
    } else if (kind === 'read' ? one.index < floor : one.index <= floor) {
      faults.push(
        `a ${kind}${outcomeOf(one.operation)} got ${shown(states[one.index])} after ${shown(states[floor])} was seen`,
      )
    }
  }
  return faults
}

/** Whether a list shows every key as it was at the list's revision. */
export function checkListing(
  {revision, states}: Listing,
  timelines: ReadonlyMap<string, readonly State[]>,
): string[] {
  return [...timelines].flatMap(([key, timeline]) => {
    const expected = timeline.findLast((state) => state.revision <= revision)
    const found = states.get(key)
    const isSame =
      found === undefined
        ? expected?.value === undefined
        : found.revision === expected?.revision && found.value === expected.value
    return isSame
      ? []
      : [`a list at ${revision} has ${shown(found)} of ${key}, not ${shown(expected)}`]
  })
}

const outcomeOf = (operation: Operation): string =>
  operation.kind === 'write' ? ` (${operation.outcome})` : ''

const shown = (state: State | undefined): string =>
  state ? `${state.value ?? 'a deletion'} at ${state.revision}` : 'nothing'
