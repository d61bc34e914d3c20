import {every, systemClock, type Clock} from '../runtime.ts'
import type {VersionedStorage} from './versioned-storage.ts'

/** How much history a store keeps, so that watches can resume after a restart and paged lists can finish. */
export interface HistoryLimits {
  /** Changes of this many recent milliseconds are kept, */
  milliseconds: number
  /** and this many recent changes, however old they are, */
  atLeast: number
  /** but never more than this many, */
  atMost: number
  /** nor more than this many bytes of values that were replaced or deleted. */
  bytes: number
}

/** Five minutes, as kube-apiserver compacts etcd. The limits bound memory and disk under any load. */
export const DEFAULT_HISTORY: HistoryLimits = {
  milliseconds: 5 * 60_000,
  atLeast: 1_000,
  atMost: 100_000,
  bytes: 16 * 1_024 * 1_024,
}

const EVERY = 30_000

/** Keeps a store's history within its limits: by age every half minute, by bytes as soon as they are too many. */
export function startCompaction(
  storage: VersionedStorage,
  since: number,
  onError: (error: unknown) => void,
  limits = DEFAULT_HISTORY,
): () => void {
  const compact = autoCompactor(storage, systemClock, limits)
  let running = false
  // Higher while a reader keeps history from being dropped: otherwise every write would try it again.
  let tooMany = limits.bytes
  const run = async () => {
    if (running) return
    running = true
    try {
      await compact()
    } catch (error) {
      onError(error)
    } finally {
      running = false
      tooMany = Math.max(limits.bytes, storage.usage().history + limits.bytes / 2)
    }
  }
  const stopTimer = every(EVERY, run, onError)
  const stop = storage.subscribe('', since, {
    advance: () => {
      if (storage.usage().history > tooMany) void run()
    },
    lost: () => undefined,
  })
  return () => {
    stopTimer()
    stop()
  }
}

/** Each call of the returned function records the current revision, and drops history that is too old or too long. */
export function autoCompactor(
  storage: Pick<VersionedStorage, 'compact' | 'historyWithin' | 'revision' | 'usage'>,
  clock: Clock,
  limits: HistoryLimits,
): () => Promise<void> {
  let seen: {at: number; revision: number}[] = []
  return async () => {
    const now = clock.now().getTime()
    const revision = await storage.revision()
    seen.push({at: now, revision})
    const old = seen.filter(({at}) => at <= now - limits.milliseconds).at(-1)
    if (old) seen = seen.filter(({at}) => at >= old.at)
    const byAge = Math.min(old?.revision ?? 0, revision - limits.atLeast)
    // Down to half, so that a flood of large values does not cause a compaction at every write.
    const bySize =
      storage.usage().history > limits.bytes ? storage.historyWithin(limits.bytes / 2) : 0
    const target = Math.max(byAge, revision - limits.atMost, bySize)
    if (target > 0) await storage.compact(target)
  }
}
