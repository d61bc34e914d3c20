import type {Clock} from '../runtime.ts'

const SILENCE = 60_000
const MOST_LINES = 1000

/** Logs the same line once a minute at most: while a server is away, every watch and every request of a controller fails alike. */
export function onceAMinute(log: (line: string) => void, clock: Clock): (line: string) => void {
  const logged = new Map<string, number>()
  return (line) => {
    const now = clock.now().getTime()
    // Also after the clock was set back.
    for (const [old, at] of logged) if (Math.abs(now - at) >= SILENCE) logged.delete(old)
    if (logged.has(line)) return
    if (logged.size >= MOST_LINES) logged.clear()
    logged.set(line, now)
    log(line)
  }
}
