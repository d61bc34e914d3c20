import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {openNodeSession, openRenewalSession} from '../../../src/cli/node/session.ts'
import {readAgentState} from '../../../src/node/agent/agent-state.ts'
import {trustFiles} from '../../../src/node/agent/node-home.ts'
import {renewOnce, runAgent, runAgentOnce} from '../../../src/node/agent/run-agent.ts'
import {ensureFiles, nodeFile} from '../../../src/node/node-files.ts'
import {nodeLock} from '../../../src/node/node-lock.ts'
import {until} from '../../server/support.ts'
import {useAgents} from './support.ts'

describe('an agent that holds the folder of its node', function () {
  this.timeout(30_000)
  const {dir, home, clock, lines} = useAgents()
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
