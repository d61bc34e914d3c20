import fs from 'node:fs'
import {syncBuiltinESMExports} from 'node:module'
import type {JoinSettings} from '../../../src/node/join/phase.ts'

/**
 * Joins, and is killed right before its n-th step: a change on the file system, or a request to the server. Arguments: the settings
 * as JSON, and n; 0 lets it come to its end. Tells how many steps there were.
 */
const [settings = '{}', killAt = '0'] = process.argv.slice(2)

let steps = 0
function step(): void {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}

type Call = (...args: unknown[]) => unknown

/** Only calls that change something; `open` is one where it makes a file. */
const CHANGES = ['open', 'mkdir', 'chmod', 'rename', 'rm', 'symlink']
const promises = fs.promises as unknown as Record<string, Call>
for (const name of CHANGES) {
  const call = promises[name]
  if (!call) continue
  promises[name] = (...args) => {
    const isReading = name === 'open' && (args[1] === 'r' || (Number(args[1]) & 1) === 0)
    if (!isReading) step()
    return call(...args)
  }
}
syncBuiltinESMExports()

const {UndiciTransport} = await import('../../../src/client/undici-transport.ts')
for (const name of ['request', 'stream'] as const) {
  const original = UndiciTransport.prototype[name] as Call
  Object.defineProperty(UndiciTransport.prototype, name, {
    value(this: unknown, ...args: unknown[]) {
      step()
      return original.apply(this, args)
    },
  })
}

const {joinPhases, runJoin} = await import('../../../src/node/join/join.ts')
const {systemClock} = await import('../../../src/runtime.ts')
const silent = () => undefined
await runJoin(
  {
    settings: JSON.parse(settings) as JoinSettings,
    clock: systemClock,
    tell: silent,
    note: silent,
    warn: silent,
    environment: {},
  },
  joinPhases(),
)
process.stdout.write(String(steps))
