import assert from 'node:assert/strict'
import {mkdir, rm} from 'node:fs/promises'
import {openNodeSession, openRenewalSession} from '../../../src/cli/node/session.ts'
import {nodeStatusView} from '../../../src/cli/views/node-status.ts'
import {KUBELET_CLIENT} from '../../../src/csr/signers.ts'
import {formatAnswer, isOverdue, readNodeStatus} from '../../../src/node/agent/node-status.ts'
import {renewNow} from '../../../src/node/agent/renew-now.ts'
import {runAgent} from '../../../src/node/agent/run-agent.ts'
import {nodeFile} from '../../../src/node/node-files.ts'
import {nodeLock} from '../../../src/node/node-lock.ts'
import {until} from '../../server/support.ts'
import {useAgents} from './support.ts'

describe('node status', function () {
  this.timeout(30_000)
  const {cluster, dir, home, clock, waiting, lines} = useAgents()
  const log = (line: string) => void lines.push(line)
  const read = (certDir?: string) => readNodeStatus(dir(), certDir, clock)
  const table = async () => await nodeStatusView.table(await read())

  /** As on a full disk: nothing takes the place of a folder. */
  async function keepStateUnwritten(): Promise<void> {
    await rm(nodeFile(dir(), 'agentState'), {force: true})
    await mkdir(nodeFile(dir(), 'agentState'))
  }

  /** Works while an agent runs for which the certificate is due, and whose requests are all denied. */
  async function whileDenied(work: () => Promise<void>): Promise<void> {
    waiting.add(KUBELET_CLIENT)
    const session = await openNodeSession({dir: dir(), 'rotate-at': '0.4-0.41'}, {clock, log})
    const stop = new AbortController()
    let isReady = false
    const onReady = () => (isReady = true)
    const running = runAgent({...session, tick: 20, onReady}, stop.signal)
    const denying = denyAll(stop.signal)
    try {
      await until(() => isReady)
      await work()
    } finally {
      stop.abort(new Error('the test is over'))
      await Promise.all([running, denying])
    }
  }

  async function denyAll(signal: AbortSignal): Promise<void> {
    const {csrs} = cluster().admin
    try {
      for await (const {type, object} of csrs.watch({signal})) {
        const {name = ''} = object.metadata
        if (type === 'ADDED' && name.startsWith('csr-')) await cluster().deny(name, 'Test', 'no')
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  it('tells what the running agent knows, although that could not be written', async () => {
    await keepStateUnwritten()
    await whileDenied(async () => {
      await until(async () => (await read()).certificates[0]?.lastError != null)
      const status = await read()
      const {isDue, lastError, lastAttempt, deadline, nextAttempt} =
        status.certificates[0] ?? assert.fail()
      assert.deepEqual([status.source, status.agent], ['agent', {pid: process.pid}])
      assert.deepEqual([isDue, lastError?.code], [true, 'CERTIFICATE_DENIED'])
      assert.ok(lastAttempt && nextAttempt)
      assert.ok(Date.parse(deadline) < clock.now().getTime())
      assert.equal(isOverdue(status), true)
      assert.match(await table(), /told by +the agent\n/)
    })
    assert.ok(lines.some((line) => line.includes('writing the state of the agent')))

    const alone = await read()
    assert.deepEqual([alone.source, alone.agent], ['files', null])
    assert.deepEqual([alone.certificates[0]?.isDue, isOverdue(alone)], [false, false])
    assert.match(await table(), /told by +the files of the node\n/)
  })

  it('lets node renew say why the agent failed, although that could not be written', async () => {
    await keepStateUnwritten()
    await whileDenied(async () => {
      const renewing = renewNow(await openRenewalSession({dir: dir()}, {clock, log}))
      await assert.rejects(renewing, {code: 'CERTIFICATE_DENIED'})
    })
  })

  it('reads the files if the process that holds the folder does not answer, and says so', async () => {
    const lock = nodeLock(dir(), log)
    await lock.hold()
    try {
      const status = await read()
      assert.deepEqual([status.source, status.agent], ['files', {pid: process.pid}])
      assert.equal(status.certificates.length, 1)
      assert.match(await table(), /told by +the files of the node: the process does not answer\n/)

      // An agent of a release with another form of answer.
      lock.answer(() => JSON.stringify({form: 99, status: {nodeName: 'other'}, state: {}}))
      assert.equal((await read()).source, 'files')
    } finally {
      await lock.release()
    }
  })

  it('reads the files of another folder of certificates than that of the agent', async () => {
    const {certDir} = await home()
    const told = {...(await read()), source: 'agent' as const, nodeName: 'told'}
    const lock = nodeLock(dir(), log)
    await lock.hold()
    lock.answer(() => formatAnswer(told, {state: {client: {}, serving: {}, clusterInfo: {}}}))
    try {
      assert.equal((await read(certDir)).nodeName, 'told')
      const other = await read(`${certDir}.other`)
      assert.equal(other.source, 'files')
      assert.notEqual(other.nodeName, 'told')
    } finally {
      await lock.release()
    }
  })
})
