import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {openNodeSession} from '../../../src/cli/node/session.ts'
import {servingStore} from '../../../src/node/agent/node-home.ts'
import {runAgentOnce} from '../../../src/node/agent/run-agent.ts'
import {useAgents} from '../../node/agent/support.ts'

const never = new AbortController().signal

describe('the session of a node that has joined', function () {
  this.timeout(30_000)
  const {dir, home, clock, lines} = useAgents()
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

  it('refuses --cert-duration below 10 minutes, which no signer issues', async () => {
    const asked = (text: string) =>
      openNodeSession({dir: dir(), 'cert-duration': text}, {clock, log})
    await assert.rejects(asked('9m59s'), {
      code: 'USAGE',
      message: '--cert-duration is shorter than 10 minutes',
    })
    assert.equal((await asked('10m')).seconds, 600)
  })

  it('refuses an unknown feature gate, and a value that is none', async () => {
    const gated = (gate: string) =>
      openNodeSession({dir: dir(), 'feature-gates': [gate]}, {clock, log})
    for (const gate of ['RotateKubeletServerCertificate=true', 'RotateKubeletClientCertificate=no'])
      await assert.rejects(gated(gate), {code: 'USAGE', message: /unknown gate/})
    assert.equal((await gated('RotateKubeletClientCertificate=false')).rotatesClient, false)
  })

  it('refuses the name of another node, and accepts its own', async () => {
    const named = (name: string) => openNodeSession({dir: dir(), 'node-name': name}, {clock, log})
    await assert.rejects(named('other'), {
      code: 'CONFLICT',
      message: `${dir()} is the folder of the node "one", not of "other"`,
    })
    await assert.rejects(named('Not a name'), {code: 'USAGE'})
    assert.equal((await named('one')).home.nodeName, 'one')
  })

  it('keeps a serving certificate only with --serving', async () => {
    const serving = async () => servingStore(await home()).currentFile()
    await runAgentOnce(await openNodeSession({dir: dir()}, {clock, log}), never)
    assert.equal(await serving(), undefined)
    await runAgentOnce(await openNodeSession({dir: dir(), serving: true}, {clock, log}), never)
    assert.notEqual(await serving(), undefined)
  })
})
