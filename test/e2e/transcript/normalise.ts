const REPLACED: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=HEX'],
  [/^\d+[smh]$/, 'AGE'],
  [/record \(\d+\)/, 'record (X)'],
]

/** Fields whose values differ from run to run. */
const OPAQUE = new Set([
  'resourceVersion',
  'continue',
  'storageVersionHash',
  'serverAddress',
  'description',
])

/** An answer without what differs from run to run. */
export function normalise(value: unknown, owners: boolean): unknown {
  if (typeof value === 'string') {
    return REPLACED.reduce((text, [pattern, name]) => text.replace(pattern, name), value)
  }
  if (Array.isArray(value)) return inOrder(value.map((item) => normalise(item, owners)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => owners || key !== 'managedFields')
      .map(([key, item]) => [key, OPAQUE.has(key) && item ? 'X' : normalise(item, owners)]),
  )
}

/** Owners stand in the order of the second in which they wrote: by name here. */
function inOrder(items: unknown[]): unknown[] {
  const name = (item: unknown): string => {
    const {manager = '', operation = ''} = (item ?? {}) as {manager?: string; operation?: string}
    return `${manager} ${operation}`
  }
  return items.some((item) => name(item) !== ' ')
    ? items.toSorted((one, other) => name(one).localeCompare(name(other)))
    : items
}
