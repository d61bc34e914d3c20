import type {LogHead, SealedHead} from '../../csr/log-head.ts'
import type {Clock} from '../../runtime.ts'
import type {KnownHead} from './log-line.ts'

/** On the Lease by which signers agree who signs. */
export const HEADS_ANNOTATION = 'trustadm.io/issuance-heads'
/** A Lease has little room. The oldest are forgotten: of each server the newest is kept as long as possible. */
const MOST = 16
const LONGEST = 32 * 1024
const HASH = /^[0-9a-f]{64}$/
const SEAL = /^[0-9a-f]{32}$/
const LONGEST_TEXT = 253

interface SharedHeadsOptions {
  /** The name of this machine. */
  server: string
  /** The newest head of the log of this process. */
  own: () => LogHead | SealedHead | undefined
  clock: Clock
}

/** The newest heads of all logs, which the signers keep in an annotation of the Lease that they renew anyway. */
export class SharedHeads {
  readonly #options: SharedHeadsOptions
  #known: readonly KnownHead[] = []

  constructor(options: SharedHeadsOptions) {
    this.#options = options
  }

  /** As last read from the Lease. */
  get known(): readonly KnownHead[] {
    return this.#known
  }

  /** Whether another server has shown this log: what this one has written it answers for itself. */
  isOthers(chain: string): boolean {
    const {server} = this.#options
    return this.#known.some((head) => head.chain === chain && head.server !== server)
  }

  /** Called with the annotations of the Lease each time it is read. */
  load(annotations: Readonly<Record<string, string>> = {}): void {
    this.#known = headsIn(annotations)
  }

  /** The annotations to write to the Lease: what was read, with the newest head of this process. */
  save(): Record<string, string> {
    const heads = this.#withOwn()
    return heads.length === 0 ? {} : {[HEADS_ANNOTATION]: JSON.stringify(heads)}
  }

  #withOwn(): readonly KnownHead[] {
    const {server, own, clock} = this.#options
    const head = own()
    const earlier = this.#known.find(({chain}) => chain === head?.chain)
    // One that is shorter than it was stays as evidence of that.
    if (!head || (earlier && earlier.size >= head.size)) return this.#known
    const others = this.#known.filter((one) => one !== earlier)
    const newest = {...head, server, time: clock.now().toISOString()}
    return withinLimit([newest, ...others])
  }
}

/** The heads in the annotations of the Lease by which signers agree who signs. */
export const headsIn = (annotations: Readonly<Record<string, string>> = {}): KnownHead[] =>
  parseHeads(annotations[HEADS_ANNOTATION])

/** Of heads, the newest first, those that are kept. */
function withinLimit(heads: readonly KnownHead[]): readonly KnownHead[] {
  if (heads.length <= MOST) return heads
  const isReplaced = ({server}: KnownHead, at: number) =>
    heads.findIndex((other) => other.server === server) < at
  const oldest = heads.findLastIndex(isReplaced)
  return heads.toSpliced(oldest, 1).slice(0, MOST)
}

const isHash = (value: unknown): value is string => typeof value === 'string' && HASH.test(value)

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT

function headIn(value: unknown): KnownHead[] {
  const {chain, size, hash, server, time, seal} = (value ?? {}) as Record<string, unknown>
  if (!isHash(chain) || !isHash(hash) || !isSize(size)) return []
  const about = {
    ...(isText(server) && {server}),
    ...(isText(time) && {time}),
    ...(typeof seal === 'string' && SEAL.test(seal) && {seal}),
  }
  return [{chain, size, hash, ...about}]
}

/** What is not a head is left out: it goes into the log. */
function parseHeads(text: string | undefined): KnownHead[] {
  if (text === undefined || text.length > LONGEST) return []
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.slice(0, MOST).flatMap(headIn) : []
  } catch {
    return []
  }
}
