import assert from 'node:assert/strict'
import {connect, createServer} from 'node:net'
import {join} from 'node:path'
import {openAgent, type NodeAgent} from '../../../src/node/agent/agent.ts'
import {readAgentState} from '../../../src/node/agent/agent-state.ts'
import {attendAll} from '../../../src/node/agent/duties.ts'
import {clientStore, openNodeHome} from '../../../src/node/agent/node-home.ts'
import {DEFAULT_WINDOW} from '../../../src/node/certificate-manager/rotation-deadline.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {TRUST_REPORT} from '../../../src/node/trust-report.ts'
import {Cleanup, listen} from '../../client/support/servers.ts'
import {until} from '../../server/support.ts'
import {joinRequest, startJoinableCluster, TOKEN_TEXT, useFolder} from '../support.ts'

const MINUTE = 60_000

/** The only way to a server, which can be cut. */
async function startGate(port: number) {
  let isOpen = true
  const server = createServer((client) => {
    if (!isOpen) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  const gate = await listen(server, 'https')
  return {
    ...gate,
    close: () => {
      isOpen = false
      for (const socket of gate.sockets.splice(0)) socket.destroy()
    },
    open: () => (isOpen = true),
  }
}

describe('the agent of a node whose server is away for minutes', function () {
  this.timeout(60_000)
  const folder = useFolder()
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  /** The node "one", whose only way to its cluster is a gate, and its agent at work. */
  async function start() {
    const cluster = cleanup.add(await startJoinableCluster())
    cleanup.add(cluster.issueAll())
    const gate = cleanup.add(await startGate(cluster.port))
    await cluster.publish({server: gate.url, ca: cluster.ca})
    const dir = join(folder(), 'node')
    const discovery = {
      endpoints: [new URL(gate.url).host],
      token: TOKEN_TEXT,
      caCertHashes: [cluster.pin],
    }
    await runJoin(joinRequest(cluster.settings(dir, 'one', {discovery})), joinPhases())
    let now = Date.now()
    const clock = {now: () => new Date(now)}
    const lines: string[] = []
    const log = (line: string) => void lines.push(line)
    const home = await openNodeHome(dir)
    const agent: NodeAgent = cleanup.add(
      await openAgent({
        home,
        window: DEFAULT_WINDOW,
        rotatesClient: true,
        serving: false,
        bootstrap: () => Promise.resolve(undefined),
        clock,
        random: () => 0.5,
        log,
      }),
    )
    const stop = new AbortController()
    const running = attendAll(agent.duties, {clock, log, tick: 20}, stop.signal)
    cleanup.add({
      stop: async () => {
        stop.abort()
        await running
      },
    })
    await until(async () => (await readAgentState(dir)).clusterInfo.readAt !== undefined)
    const goTo = (time: Date | undefined) => (now = time?.getTime() ?? assert.fail('never'))
    return {cluster, gate, dir, home, agent, lines, goTo, now: () => now}
  }

  it('reports again once its server is back, which may have another store', async () => {
    const {cluster, gate, agent, goTo, now} = await start()
    const {nodes} = cluster.admin
    const reported = async () => (await nodes.get('one')).metadata.annotations?.[TRUST_REPORT]
    await until(async () => (await reported()) !== undefined)
    const before = await reported()
    gate.close()
    await assert.rejects(agent.connection.use((client) => client.nodes.get('one')))
    const annotations = {[TRUST_REPORT]: null}
    await nodes.patch('one', {metadata: {annotations}}, {type: 'merge'})
    gate.open()
    // Longer than the pause after a failure, shorter than that between two looks.
    goTo(new Date(now() + MINUTE))
    await until(async () => (await reported()) === before)
  })

  it('keeps the old certificate, says why once, and renews as soon as it can', async () => {
    const {gate, dir, home, agent, lines, goTo, now} = await start()
    const {manager} = agent.managed[0] ?? assert.fail('it keeps no certificate')
    const serial = () => manager.current?.certificate.serial
    const storedSerial = async () => (await clientStore(home).read())?.certificate.serial
    const old = serial()

    gate.close()
    const since = goTo(manager.nextAttempt)
    const waits: number[] = []
    while (now() < since + 5 * MINUTE) {
      const failures = manager.failures + 1
      await until(() => manager.failures === failures)
      assert.deepEqual([serial(), await storedSerial()], [old, old])
      const before = now()
      waits.push(goTo(manager.nextAttempt) - before)
    }
    assert.deepEqual(waits.slice(0, 6), [1500, 3000, 6000, 12_000, 24_000, 24_000])
    await until(() => manager.failures === waits.length + 1)
    assert.equal(manager.isServerHealthy, false)
    await until(async () => (await readAgentState(dir)).client.error !== undefined)
    assert.equal((await readAgentState(dir)).client.error?.code, 'SERVER_UNREACHABLE')

    gate.open()
    const self = async () => (await agent.connection.client.nodes.get('one')).metadata.name
    assert.deepEqual([await self(), serial()], ['one', old])
    const failures = manager.failures
    goTo(manager.nextAttempt)
    await until(() => lines.includes('renewing the client certificate works again'))
    assert.equal(manager.failures, failures)
    assert.notEqual(serial(), old)
    assert.equal(await storedSerial(), serial())
    assert.equal(await self(), 'one')
    const errors = lines.filter((line) => line.startsWith('error: '))
    const ofRenewal = errors.filter((line) => line.includes('renewing the client certificate'))
    assert.equal(ofRenewal.length, 1, lines.join('\n'))
    assert.equal(new Set(errors).size, errors.length)
  })
})
