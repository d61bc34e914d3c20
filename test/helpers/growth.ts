import assert from 'node:assert/strict'

/** What takes less is not told apart from the machine's other work. */
const NOISE = 40
/** Twice what linear work would take: quadratic work takes four times that at each step. */
const MARGIN = 2
const TRIES = 4

/** How many times as large each size is as the one before. */
const STEP = 4

/** Sizes up to the largest, each four times as large as the one before. */
export const sizesUpTo = (largest: number, steps = 4): number[] =>
  Array.from({length: steps}, (_, index) => Math.floor(largest / STEP ** (steps - 1 - index)))

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

/** Fails as soon as four times the size takes much more than four times the processor time, so that quadratic work is found early. */
export async function assertLinear(
  what: string,
  sizes: readonly number[],
  run: (size: number) => () => unknown,
): Promise<void> {
  let allowed = NOISE
  const seen: string[] = []
  for (const size of sizes) {
    const time = await leastTime(run(size), allowed)
    seen.push(`${size}: ${time.toFixed(1)} ms`)
    assert.ok(time <= allowed, `${what} takes more than linear time: ${seen.join(', ')}`)
    allowed = Math.max(NOISE, time * STEP * MARGIN)
  }
}
