import assert from 'node:assert/strict'

/** What takes less cannot be told from the collection of garbage that other tests left. */
const NOISE = 120
/** How much more than in proportion is still linear: quadratic work is off by as many times as the size has grown. */
const MARGIN = 2.5
/** For the smallest size, which nothing can be compared with. */
const MOST_AT_FIRST = 500
const TRIES = 6

/** Sizes up to the largest, each so many times as large as the one before. */
export const sizesUpTo = (largest: number, step = 4, count = 4): number[] =>
  Array.from({length: count}, (_, index) => Math.floor(largest / step ** (count - 1 - index)))

async function processorTime(run: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const {user, system} = process.cpuUsage(before)
  return (user + system) / 1000
}

/** The least of several tries, where the first one was too long: other work on the machine only adds. */
async function leastTime(run: () => unknown, enough: number): Promise<number> {
  let least = Infinity
  for (let tries = 0; tries < TRIES && least > enough; tries += 1) {
    least = Math.min(least, await processorTime(run))
  }
  return least
}

/** Fails as soon as a larger size takes much more processor time than in proportion, so that quadratic work is found early. */
export async function assertLinear(
  what: string,
  sizes: readonly number[],
  run: (size: number) => () => unknown,
): Promise<void> {
  const seen: string[] = []
  let before: {size: number; time: number} | undefined
  for (const size of sizes) {
    const allowed =
      before === undefined
        ? MOST_AT_FIRST
        : Math.max(NOISE, (before.time * size * MARGIN) / before.size)
    const time = await leastTime(run(size), before === undefined ? NOISE : allowed)
    seen.push(`${size}: ${time.toFixed(1)} ms`)
    assert.ok(time <= allowed, `${what} takes more than linear time: ${seen.join(', ')}`)
    before = {size, time}
  }
}
