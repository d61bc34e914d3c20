import type {Clock} from '../runtime.ts'
import {autoCompactor, DEFAULT_HISTORY} from '../storage/auto-compact.ts'
import type {Storage} from '../storage/storage.ts'

const EVERY = 30_000

/** Keeps the store's history within its limits: by age every half minute, by bytes as soon as they are too many. */
export function startCompaction(
  storage: Storage,
  clock: Clock,
  onError: (error: unknown) => void,
  limits = DEFAULT_HISTORY,
): () => void {
  const compact = autoCompactor(storage, clock, limits)
  let running = false
  const run = async () => {
    if (running) return
    running = true
    try {
      await compact()
    } catch (error) {
      onError(error)
    } finally {
      running = false
    }
  }
  const timer = setInterval(() => void run(), EVERY)
  const {stop} = storage.subscribe('', () => {
    if (storage.usage().history > limits.bytes) void run()
  })
  return () => {
    clearInterval(timer)
    stop()
  }
}
