import {getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString} from 'node:v8'
import {every} from '../runtime.ts'

/** In milliseconds. A flood takes several of these to fill the memory. */
const INTERVAL = 500
const MIB = 2 ** 20
/** In bytes, both halves: with less, what lives for one request is promoted and has to be collected as if it were old. */
const YOUNG_SPACE = 16 * MIB

/** In bytes. */
export interface MemoryUse {
  /** By the whole process. */
  used: number
  /** By objects of V8, with garbage. */
  heap: number
  target: number
}

/** How V8 is to treat its heap. */
export interface HeapPolicy {
  /** By how many percent the heap may grow until the next collection. */
  growth: number
  /** Whether each collection also closes gaps, a few megabytes at a time; code is optimized less meanwhile. */
  compacts: boolean
}

/** Of the memory that is free, the part that garbage may fill before V8 collects. */
const GARBAGE = 1 / 2
/** In percent. Below this V8 would do little but collect; above, it would take memory that others need. */
const [LEAST_GROWTH, MOST_GROWTH] = [10, 100]
/** Of its memory, how much a server uses before it gives up speed for it. */
const NEARLY_ALL = 15 / 16

/**
 * V8 lets a small heap grow up to fourfold before it collects, and leaves gaps: under a flood that is hundreds of megabytes. A
 * server collects the more often, the closer it is to the memory that it may use: that costs processor time only when it has to.
 */
export function heapPolicy({used, heap, target}: MemoryUse): HeapPolicy {
  const growth = Math.round((100 * GARBAGE * (target - used)) / heap)
  return {
    growth: Math.min(Math.max(growth, LEAST_GROWTH), MOST_GROWTH),
    compacts: used > target * NEARLY_ALL,
  }
}

/** The factor by which V8 may enlarge the space for new objects. */
export const youngGrowth = (size: number): number => (size < YOUNG_SPACE ? 2 : 1)

const youngSize = (): number =>
  getHeapSpaceStatistics().find(({space_name}) => space_name === 'new_space')?.space_size ?? 0

/** Between two looks at it, memory grows by as much as this. */
const ROOM = 1 / 12

/** Keeps V8 to the memory that the server may use, until the returned function is called. */
export function followMemory(memory: number, report: (error: unknown) => void): () => void {
  const target = memory * (1 - ROOM)
  const follow = () => {
    const heap = getHeapStatistics().used_heap_size
    const {growth, compacts} = heapPolicy({used: process.memoryUsage.rss(), heap, target})
    setFlagsFromString(`--heap-growing-percent=${growth}`)
    setFlagsFromString(compacts ? '--optimize-for-size' : '--no-optimize-for-size')
    setFlagsFromString(`--semi-space-growth-factor=${youngGrowth(youngSize())}`)
  }
  // V8 forgets functions that were not called between a few collections. Under a flood that is a second, and it compiles again and again.
  setFlagsFromString('--no-flush-bytecode')
  follow()
  return every(INTERVAL, follow, report)
}

/**
 * What a server's process reads when it starts. glibc keeps freed memory, in an arena for each thread, and learns from one large
 * body to keep more; with these settings large blocks go back to the system as soon as they are free.
 */
export const SERVER_ENVIRONMENT: Record<string, string> = {
  // V8 collects and compiles in four threads of its own. On a machine with few processors they keep requests waiting under a flood.
  NODE_OPTIONS: '--v8-pool-size=1',
  MALLOC_ARENA_MAX: '2',
  // Above the 64 KiB that Node.js reads at a time: mapping memory for each read costs a tenth of the processor time.
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '8388608',
}
