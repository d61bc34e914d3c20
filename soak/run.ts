import {parseArgs} from 'node:util'
import {ATTACKS} from './attacks/index.ts'
import {formatReport} from './report.ts'
import {soak} from './soak.ts'
import {failuresOf} from './verdict.ts'

const USAGE = `npm run soak -- [--minutes <n>] [--only <attack>[,<attack>…]] [--pinned]

Floods a server on this machine's loopback with attacks, beside an honest administrator, machines that join and kubectl.
Exits with 1 if an honest client waits longer than 1 s or is refused, memory passes 400 MiB, or an acknowledged write is lost.
Without --only, a second run of two minutes follows, of the attacks that take the thread: server and attackers have one core each.
--pinned does the same for what --only names.

${ATTACKS.map(({name, aim}) => `  ${name.padEnd(16)}${aim}`).join('\n')}`

function fail(message: string): never {
  console.error(`${message}\n\n${USAGE}`)
  process.exit(2)
}

const {values} = parseArgs({
  options: {
    minutes: {type: 'string', default: '10'},
    only: {type: 'string'},
    pinned: {type: 'boolean', default: false},
    help: {type: 'boolean', default: false},
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const minutes = Number(values.minutes)
if (!(minutes > 0 && minutes <= 600)) fail('--minutes is not a number of minutes')
const attacks = values.only?.split(',') ?? ATTACKS.map(({name}) => name)
const unknown = attacks.filter((name) => !ATTACKS.some((attack) => attack.name === name))
if (unknown.length > 0) fail(`there is no attack "${unknown.join('", "')}"`)

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.abort(new Error('interrupted')))

/** They take the thread, and a server with one core has no other. */
const ON_ONE_CORE = ['streams', 'connections', 'thread', 'audit-lines', 'withdrawn-tokens']
const PINNED_SECONDS = 120

async function isWithinBounds(names: string[], seconds: number, pinned: boolean): Promise<boolean> {
  const {signal} = interrupted
  const tell = (line: string) => console.error(line)
  const findings = await soak({seconds, attacks: names, pinned, signal, tell})
  const failures = failuresOf(findings)
  console.log(`\n${formatReport(findings)}\n`)
  for (const failure of failures) console.log(`FAILED: ${failure}`)
  if (failures.length === 0) console.log('nobody honest noticed')
  return failures.length === 0
}

try {
  const isAll = values.only === undefined
  const first = await isWithinBounds(attacks, minutes * 60, values.pinned && !isAll)
  const second = !isAll || (await isWithinBounds(ON_ONE_CORE, PINNED_SECONDS, true))
  // A request that was given up may still be waiting for its answer.
  process.exit(first && second ? 0 : 1)
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  console.error('interrupted: everything was ended and removed')
  process.exit(130)
}
