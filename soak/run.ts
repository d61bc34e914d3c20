import {parseArgs} from 'node:util'
import {ATTACKS} from './attacks/index.ts'
import {formatReport} from './report.ts'
import {soak} from './soak.ts'
import {failuresOf} from './verdict.ts'

const USAGE = `npm run soak -- [--minutes <n>] [--only <attack>[,<attack>…]]

Floods a server on this machine's loopback with attacks, beside an honest administrator, machines that join and kubectl.
Exits with 1 if an honest client waits longer than 1 s or is refused, memory passes 400 MiB, or an acknowledged write is lost.

${ATTACKS.map(({name, aim}) => `  ${name.padEnd(16)}${aim}`).join('\n')}`

function fail(message: string): never {
  console.error(`${message}\n\n${USAGE}`)
  process.exit(2)
}

const {values} = parseArgs({
  options: {
    minutes: {type: 'string', default: '10'},
    only: {type: 'string'},
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

try {
  const findings = await soak({
    seconds: minutes * 60,
    attacks,
    signal: interrupted.signal,
    tell: (line) => console.error(line),
  })
  const failures = failuresOf(findings)
  console.log(`\n${formatReport(findings)}\n`)
  for (const failure of failures) console.log(`FAILED: ${failure}`)
  if (failures.length === 0) console.log('nobody honest noticed')
  // A request that was given up may still be waiting for its answer.
  process.exit(failures.length === 0 ? 0 : 1)
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  console.error('interrupted: everything was ended and removed')
  process.exit(130)
}
