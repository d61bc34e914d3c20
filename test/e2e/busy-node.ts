import {openAgent} from '../../src/node/agent/agent.ts'
import {attendAll} from '../../src/node/agent/duties.ts'
import {openNodeHome} from '../../src/node/agent/node-home.ts'
import {DEFAULT_WINDOW} from '../../src/node/certificate-manager/rotation-deadline.ts'
import {messageOf} from '../../src/errors.ts'
import {systemClock} from '../../src/runtime.ts'

/**
 * A node that sends requests through its own connection, and watches, while it renews its certificate. Arguments: its folder, and
 * how often to renew before it ends. Tells how it went.
 */
const [dir = '', renewals = '3'] = process.argv.slice(2)
const stop = new AbortController()
const agent = await openAgent({
  home: await openNodeHome(dir),
  window: DEFAULT_WINDOW,
  rotatesClient: true,
  serving: false,
  // As --cert-duration 10m: the server's signer issues still shorter ones.
  seconds: 600,
  bootstrap: () => Promise.resolve(undefined),
  clock: systemClock,
  random: Math.random,
  log: (line) => process.stderr.write(`${line}\n`),
})
const {client} = agent.connection
const {nodeName} = await openNodeHome(dir)
const outcome = {renewals: 0, requests: 0, watches: 0, failures: [] as string[]}
agent.managed[0]?.manager.live.subscribe(() => {
  outcome.renewals += 1
})

async function repeat(work: () => Promise<void>): Promise<void> {
  while (!stop.signal.aborted) {
    await work().catch((error: unknown) => {
      if (!stop.signal.aborted) outcome.failures.push(messageOf(error))
    })
  }
}
const ask = async () => {
  await client.nodes.get(nodeName)
  outcome.requests += 1
  const isOver = outcome.renewals >= Number(renewals) && outcome.requests > 100
  if (isOver) stop.abort(new Error('that is enough'))
}
const watch = async () => {
  outcome.watches += 1
  const select = {fieldSelector: `metadata.name=${nodeName}`, signal: stop.signal}
  for await (const {type} of client.nodes.watch(select)) if (type === 'DELETED') return
}
await Promise.all([
  attendAll(agent.duties, {clock: systemClock, log: () => undefined, tick: 50}, stop.signal),
  ...[ask, ask, ask, watch].map(repeat),
])
await agent.close()
process.stdout.write(JSON.stringify(outcome))
