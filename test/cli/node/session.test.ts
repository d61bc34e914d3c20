import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {openNodeSession} from '../../../src/cli/node/session.ts'
import {runAgentOnce} from '../../../src/node/agent/run-agent.ts'
import {useAgents} from '../../node/agent/support.ts'

const never = new AbortController().signal

describe('the session of a node that has joined', function () {
  this.timeout(30_000)
  const {dir, clock, lines} = useAgents()
  const log = (line: string) => void lines.push(line)
  const file = () => `${dir()}.bootstrap.conf`
  const open = () => openNodeSession({dir: dir(), 'bootstrap-kubeconfig': file()}, {clock, log})
  const warnings = () => lines.filter((line) => line.startsWith('warning: '))

  it('warns of a missing bootstrap kubeconfig, and works without it', async () => {
    await runAgentOnce(await open(), never)
    assert.equal(warnings().length, 1)
    assert.ok(warnings()[0]?.includes(file()))
  })

  it('warns of a broken bootstrap kubeconfig, and works without it', async () => {
    await writeFile(file(), 'users: [')
    await runAgentOnce(await open(), never)
    assert.equal(warnings().length, 1)
  })

  it('says what is wrong with the bootstrap kubeconfig once the certificate has expired', async () => {
    clock.shift = 61 * 60_000
    const session = await open()
    await assert.rejects(runAgentOnce(session, never), ({message}: Error) =>
      message.includes(file()),
    )
  })
})
