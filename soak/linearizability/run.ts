import {parseArgs} from 'node:util'
import {FAULTS} from './faults.ts'
import {linearizability, type Findings} from './linearizability.ts'

const USAGE = `npm run linearizability -- [--kills <n>] [--only <fault>[,<fault>…]]

Starts three servers on three members of a real etcd, and kills or stops a random one of them, or two, --kills times [default: 100], while clients
read, write, watch and ask for certificates at all of them. Exits with 1 if a read or a write is not linearizable, an acknowledged write is lost, a
watch has a gap or repeats something, two keys get a certificate for one name, a request gets two certificates, or controllers do not go on within 20 s.

Faults: ${FAULTS.join(', ')}`

const LONGEST_RECOVERY = 20_000

function fail(message: string): never {
  console.error(`${message}\n\n${USAGE}`)
  process.exit(2)
}

function report(findings: Findings): string {
  const {recoveries, watches, seconds} = findings
  const line = (title: string, of: Findings['recoveries']) => {
    const times = of.map(({milliseconds = Infinity}) => milliseconds).sort((a, b) => a - b)
    const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0)
    return `${title}: ${of.length}, controllers after ${at(0.5)} ms (median), ${at(1)} ms at most`
  }
  const kinds = [...new Set(recoveries.map(({what}) => what))]
  return [
    `${recoveries.length} faults in ${Math.round(seconds)} s`,
    ...kinds.map(
      (kind) =>
        `  ${line(
          kind,
          recoveries.filter(({what}) => what === kind),
        )}`,
    ),
    line(
      'those at the leader',
      recoveries.filter(({hitLeader}) => hitLeader),
    ),
    `writes: ${findings.acknowledged} acknowledged, ${findings.refused} refused, ${findings.unknown} without an answer; ${findings.reads} reads`,
    `watches: ${findings.events} events; listed again: ${watches.map(({name, breaks}) => `${name} ${breaks}`).join(', ')}`,
    `certificates: ${findings.races} names raced for, ${findings.issued} signed, ${findings.unpublished} of them never published`,
  ].join('\n')
}

const {values} = parseArgs({
  options: {
    kills: {type: 'string', default: '100'},
    only: {type: 'string'},
    help: {type: 'boolean', default: false},
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const kills = Number(values.kills)
if (!(Number.isInteger(kills) && kills > 0 && kills <= 10_000)) fail('--kills is not a number')
const faults = values.only?.split(',') ?? FAULTS
if (!faults.every((name) => FAULTS.includes(name))) fail('--only names an unknown fault')

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.abort(new Error('interrupted')))

try {
  const tell = (line: string) => console.error(line)
  const findings = await linearizability({kills, faults, signal: interrupted.signal, tell})
  const late = findings.recoveries.filter(
    ({milliseconds = Infinity}) => milliseconds > LONGEST_RECOVERY,
  )
  const failures = [
    ...findings.faults,
    ...late.map(({what}) => `controllers did not go on within 20 s: ${what}`),
  ]
  console.log(`\n${report(findings)}\n`)
  for (const failure of failures) console.log(`FAILED: ${failure}`)
  if (failures.length === 0) console.log('linearizable, and nothing was lost')
  process.exit(failures.length === 0 ? 0 : 1)
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  console.error('interrupted: everything was ended and removed')
  process.exit(130)
}
