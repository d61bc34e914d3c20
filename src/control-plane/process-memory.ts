import {getHeapSpaceStatistics, setFlagsFromString} from 'node:v8'

/** In milliseconds. A flood takes several of these to fill the memory. */
const INTERVAL = 500
const MIB = 2 ** 20
/** In bytes, both halves: with less, what lives for one request is promoted and has to be collected as if it were old. */
const YOUNG_SPACE = 16 * MIB

/** How V8 is to treat its heap. */
export interface HeapPolicy {
  /** By how many percent the heap may grow until the next collection. */
  growth: number
  /** Whether each collection also closes gaps, a few megabytes at a time; code is optimized less meanwhile. */
  compacts: boolean
}

/**
 * V8 lets a small heap grow up to fourfold before it collects, and leaves gaps: under a flood that is hundreds of megabytes. A
 * server collects the more often, the closer it is to the memory that it may use: that costs processor time only when it has to.
 */
export function heapPolicy(used: number, target: number): HeapPolicy {
  if (used < target / 2) return {growth: 100, compacts: false}
  if (used < (target * 5) / 8) return {growth: 30, compacts: false}
  return {growth: 10, compacts: true}
}

/** The factor by which V8 may enlarge the space for new objects. */
export const youngGrowth = (size: number): number => (size < YOUNG_SPACE ? 2 : 1)

const youngSize = (): number =>
  getHeapSpaceStatistics().find(({space_name}) => space_name === 'new_space')?.space_size ?? 0

/** Adapts V8 to the memory in use, until the returned function is called. */
export function followMemory(target: number): () => void {
  const follow = () => {
    const {growth, compacts} = heapPolicy(process.memoryUsage.rss(), target)
    setFlagsFromString(`--heap-growing-percent=${growth}`)
    setFlagsFromString(compacts ? '--optimize-for-size' : '--no-optimize-for-size')
    setFlagsFromString(`--semi-space-growth-factor=${youngGrowth(youngSize())}`)
  }
  follow()
  const timer = setInterval(follow, INTERVAL).unref()
  return () => clearInterval(timer)
}

/**
 * glibc keeps freed memory, in an arena for each thread, and learns from one large body to keep more. With these settings large
 * blocks go back to the system as soon as they are free. It reads them when a process starts.
 */
export const MALLOC_SETTINGS: Record<string, string> = {
  MALLOC_ARENA_MAX: '2',
  // Above the 64 KiB that Node.js reads at a time: mapping memory for each read costs a tenth of the processor time.
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '8388608',
}
