import assert from 'node:assert/strict'
import {chmod, readFile, rm, stat} from 'node:fs/promises'
import {openNodeSession, openRenewalSession} from '../../../src/cli/node/session.ts'
import {readAgentState} from '../../../src/node/agent/agent-state.ts'
import {trustFiles} from '../../../src/node/agent/node-home.ts'
import {renewOnce, runAgent, runAgentOnce} from '../../../src/node/agent/run-agent.ts'
import {lockHolder} from '../../../src/fs/folder-lock.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {ensureFiles, nodeFile} from '../../../src/node/node-files.ts'
import {nodeLock} from '../../../src/node/node-lock.ts'
import {until} from '../../server/support.ts'
import {joinRequest} from '../support.ts'
import {useAgents} from './support.ts'

describe('an agent that holds the folder of its node', function () {
  this.timeout(30_000)
  const agents = useAgents()
  const {dir, home, clock, lines} = agents
  const log = (line: string) => void lines.push(line)

  it('keeps what another process wrote while it waited for the folder', async () => {
    const session = await openNodeSession({dir: dir()}, {clock, log})
    const {info, ...known} = await home()
    const server = 'https://moved.example:6443'
    const kubeconfig = info.kubeconfig.replaceAll(info.server, server)
    const files = trustFiles({...known, info: {...info, server, kubeconfig}})
    const hold = async () => {
      await session.lock.hold()
      await ensureFiles(files)
    }
    const stop = new AbortController()
    const lock = {...session.lock, hold}
    await runAgent({...session, lock, onReady: () => stop.abort()}, stop.signal)
    for (const {path, content} of files) assert.equal(await readFile(path, 'utf8'), content)
    assert.ok((await readFile(nodeFile(dir(), 'kubeconfig'), 'utf8')).includes('moved.example'))
  })

  it('lets a join have the folder, and works in it again once that has ended', async () => {
    const {cluster} = agents
    const session = await openNodeSession({dir: dir()}, {clock, log})
    const stop = new AbortController()
    let opened = 0
    const openHome = () => {
      opened += 1
      return session.openHome()
    }
    const running = runAgent(
      {...session, openHome, tick: 10, onReady: () => undefined},
      stop.signal,
    )
    await until(() => opened === 1)
    await rm(nodeFile(dir(), 'kubeconfig'))
    await runJoin(joinRequest(cluster().settings(dir(), 'one')), joinPhases())
    assert.ok((await readFile(nodeFile(dir(), 'kubeconfig'), 'utf8')).includes('kubelet-client'))
    await until(() => opened === 2)
    assert.ok(lines.includes('a join works in the folder of the node: waiting until it has ended'))
    stop.abort(new Error('stopped'))
    await running
    assert.equal(await lockHolder(nodeFile(dir(), 'lock')), undefined)
  })

  it('takes the rights of others away from the folder of keys and CAs, as join does', async () => {
    const pki = nodeFile(dir(), 'pki')
    await chmod(pki, 0o777)
    const session = await openNodeSession({dir: dir()}, {clock, log})
    const stop = new AbortController()
    await runAgent({...session, onReady: () => stop.abort()}, stop.signal)
    assert.equal((await stat(pki)).mode & 0o777, 0o700)
  })

  it('ends when it is stopped while it waits for the folder', async () => {
    const session = await openNodeSession({dir: dir()}, {clock, log})
    const other = nodeLock(dir(), log)
    await other.hold()
    const stop = new AbortController()
    let isReady = false
    const running = runAgent({...session, onReady: () => (isReady = true)}, stop.signal)
    await until(() => lines.some((line) => line.startsWith('waiting for process')))
    stop.abort(new Error('stopped'))
    await running
    assert.equal(isReady, false)
    await other.release()
  })

  it('leaves it to the next "node run" to announce what "node renew" has changed', async () => {
    const {signal} = new AbortController()
    const changes = `${dir()}.changes`
    const flags = {
      dir: dir(),
      'rotate-at': '0.5-0.6',
      'on-change': `printf %s "$TRUSTADM_CHANGED" >> ${changes}`,
    }
    const run = async () => runAgentOnce(await openNodeSession(flags, {clock, log}), signal)
    await run()
    await renewOnce(await openRenewalSession({dir: dir()}, {clock, log}), signal)
    assert.equal((await readAgentState(dir())).rotateAt, '0.5-0.6')
    await run()
    assert.equal(await readFile(changes, 'utf8'), 'client-certificate')
  })
})
