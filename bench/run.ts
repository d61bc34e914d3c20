import {cpus, totalmem} from 'node:os'
import {removeBundles} from './processes/bundle.ts'
import {misses, type BenchRow} from './rows.ts'

/** Each part is loaded when its turn comes: none is measured with another's code in memory. */
const PARTS: Record<string, () => Promise<BenchRow[]>> = {
  start: async () => (await import('./start.ts')).benchStart(),
  storage: async () => (await import('./storage.ts')).benchStorage(),
  handler: async () => (await import('./handler.ts')).benchHandler(),
  server: async () => (await import('./server.ts')).benchServer(),
  'fan-out': async () => (await import('./fan-out.ts')).benchFanOut(),
  memory: async () => (await import('./memory.ts')).benchMemory(),
  growth: async () => (await import('./growth.ts')).benchGrowth(),
  certificates: async () => (await import('./certificates.ts')).benchCertificates(),
  joins: async () => (await import('./joins.ts')).benchJoins(),
  'joined-before': async () => (await import('./joined-before.ts')).benchJoinedBefore(),
  renewals: async () => (await import('./renewals.ts')).benchRenewals(),
  etcd: async () => (await import('./etcd.ts')).benchEtcd(),
  snapshot: async () => (await import('./snapshot.ts')).benchSnapshot(),
  rotation: async () => (await import('./rotation.ts')).benchRotation(),
}

const COLUMNS = ['', 'measured', 'beside', 'ratio', 'goal', '', 'beside what']

function lineOf(row: BenchRow): string[] {
  const {name, value, unit, baseline, ratio, goal, beside = ''} = row
  return [
    name,
    `${shown(value)} ${unit}`,
    baseline === undefined ? '' : `${shown(baseline)} ${unit}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    goal === undefined ? '' : 'atMost' in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`,
    misses(row) ? 'missed' : '',
    beside,
  ]
}

/** Three digits that count; what comes after is noise. */
const shown = (value: number) =>
  Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : Number(value.toPrecision(3)).toString()

function table(lines: string[][]): string {
  const widths = COLUMNS.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 || column === COLUMNS.length - 1
            ? cell.padEnd(widths[column] ?? 0)
            : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function machine(): string {
  const [processor] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${processor?.model ?? 'unknown processor'}, ${memory} GiB`
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in PARTS))
if (unknown.length > 0) {
  console.error(`no part "${unknown.join('", "')}"; there are: ${Object.keys(PARTS).join(', ')}`)
  process.exit(2)
}
console.log(machine())
const missed: string[] = []
for (const [part, run] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(part)) continue
  const rows = await run()
  console.log(`\n${table([[part, ...COLUMNS.slice(1)], ...rows.map(lineOf)])}`)
  missed.push(...rows.filter(misses).map(({name}) => `${part}: ${name}`))
}
console.log(missed.length === 0 ? '\nevery goal was met' : `\nmissed:\n  ${missed.join('\n  ')}`)
await removeBundles()
