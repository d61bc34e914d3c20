import fs from 'node:fs'
import {syncBuiltinESMExports} from 'node:module'
import {UndiciTransport} from '../../src/client/undici-transport.ts'
import {Gateway} from '../../src/storage/etcd/gateway.ts'

type Call = (...args: unknown[]) => unknown

/** Only calls that change something; `open` is one where it makes a file. */
const CHANGES = ['open', 'mkdir', 'chmod', 'rename', 'rm', 'symlink']

/**
 * Kills this process right before its n-th step from now on: a change on the file system, or a request to a server
 * or to etcd. 0 lets it come to its end. Gives a function that tells how many steps there were.
 */
export function killAtStep(killAt: number): () => number {
  let steps = 0
  const step = () => {
    steps += 1
    if (steps === killAt) process.kill(process.pid, 'SIGKILL')
  }
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
  for (const name of ['request', 'stream'] as const) {
    const original = UndiciTransport.prototype[name] as Call
    Object.defineProperty(UndiciTransport.prototype, name, {
      value(this: unknown, ...args: unknown[]) {
        step()
        return original.apply(this, args)
      },
    })
  }
  const ask = Gateway.prototype.call as Call
  Object.defineProperty(Gateway.prototype, 'call', {
    value(this: unknown, ...args: unknown[]) {
      step()
      return ask.apply(this, args)
    },
  })
  return () => steps
}
