import {ATTACKS} from './attacks/index.ts'
import type {Findings} from './verdict.ts'

const MIB = 2 ** 20

/** The findings as a short table. */
export function formatReport(findings: Findings): string {
  const {attacks, waits, writes, lost, peak, anonymous, processor, waited} = findings
  const {generators, ownDelay, restart, seconds, descriptors} = findings
  const attackLines = ATTACKS.flatMap(({name}) => {
    const tally = attacks[name]
    if (tally === undefined) return []
    const answers = Object.entries(tally.answers).sort(([, one], [, other]) => other - one)
    const sum = answers.reduce((total, [, count]) => total + count, 0)
    return [[name, String(sum), answers.map(([code, count]) => `${code} × ${count}`).join(', ')]]
  })
  const waitLines = waits.map(({what, requests, refused, p50, p99, longest}) => [
    what,
    ...[requests, refused, p50, p99, longest].map((number) => String(Math.round(number))),
  ])
  return [
    table([['attack', 'sent', 'answers'], ...attackLines], 2),
    table([['honest', 'requests', 'refused', 'p50 ms', 'p99 ms', 'max ms'], ...waitLines]),
    `server: at most ${mib(peak)} MiB resident (${mib(anonymous)} MiB without files), ${processor.toFixed(0)} s of processor in ${seconds.toFixed(0)} s, ${waited.toFixed(1)} s ready without one; ${descriptors.before} descriptors before, ${descriptors.after} after`,
    `attackers: ${generators.toFixed(0)} s of processor; the honest clients' own process was late by ${Math.round(ownDelay)} ms at most`,
    `writes: ${writes} acknowledged, ${lost.length} lost; ready ${restart === undefined ? 'never' : `${Math.round(restart)} ms`} after a kill`,
  ].join('\n\n')
}

const mib = (bytes: number) => Math.round(bytes / MIB)

/** Numbers to the right, from the second column on, up to the one that is text. */
function table(lines: string[][], textFrom = Infinity): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const width = column >= textFrom ? 0 : (widths[column] ?? 0)
          return column === 0 ? cell.padEnd(width) : cell.padStart(width)
        })
        .join('  '),
    )
    .join('\n')
}
