/** Whole seconds since a time; null if that is none. Clocks differ a little: never less than nothing. */
export function secondsSince(time: string | null, now: Date): number | null {
  const milliseconds = time === null ? NaN : now.getTime() - Date.parse(time)
  return Number.isNaN(milliseconds) ? null : Math.max(0, Math.floor(milliseconds / 1000))
}
