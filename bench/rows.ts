/** One line of a benchmark; the ratio is the value over its baseline, both measured in the same run. */
export interface BenchRow {
  name: string
  value: number
  unit: string
  baseline?: number
  ratio?: number
  /** What the baseline is, or what the value is made of. */
  beside?: string
  /** Of the ratio; of the value if there is none. */
  goal?: Goal
}

export type Goal = {atMost: number} | {atLeast: number}

/** A row with its baseline and the ratio of the two. */
export const compared = (
  name: string,
  value: number,
  unit: string,
  [baseline, beside]: readonly [value: number, name: string],
  goal?: Goal,
): BenchRow => ({
  name,
  value,
  unit,
  baseline,
  ratio: value / baseline,
  beside,
  ...(goal && {goal}),
})

/** Whether a row misses its goal. A figure that is no number misses every goal. */
export function misses({value, ratio, goal}: BenchRow): boolean {
  if (goal === undefined) return false
  const figure = ratio ?? value
  return 'atMost' in goal ? !(figure <= goal.atMost) : !(figure >= goal.atLeast)
}

/** The middle of the values: what a busy machine disturbs least. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** What the work took, in milliseconds. */
export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
