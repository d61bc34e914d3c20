import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {type OnChangeOptions, runOnChange} from '../../../src/node/agent/announcer.ts'
import {until} from '../../server/support.ts'
import {useFolder} from '../support.ts'

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the command of --on-change', () => {
  const folder = useFolder()
  const file = () => join(folder(), 'out')
  const run = (command: string, more: Partial<OnChangeOptions> = {}) =>
    runOnChange({
      command,
      changes: ['client-certificate', 'ca-bundle'],
      variables: {TRUSTADM_NODE_NAME: 'one'},
      signal: new AbortController().signal,
      ...more,
    })

  it('learns from its environment what has changed', async () => {
    await run(`echo "$TRUSTADM_NODE_NAME $TRUSTADM_CHANGED" > ${file()}`)
    assert.equal(await readFile(file(), 'utf8'), 'one client-certificate,ca-bundle\n')
  })

  for (const [command, message] of [
    ['exit 3', /ended with 3/],
    ['kill -9 $$', /was ended by SIGKILL/],
    ['no-such-program-anywhere 2>/dev/null', /ended with 127/],
  ] as const) {
    it(`fails if it does: ${command}`, async () => {
      await assert.rejects(run(command), {code: 'ON_CHANGE_FAILED', message})
    })
  }

  it('is ended, with all that it has started, if it takes too long', async () => {
    await assert.rejects(run('sleep 60 & wait', {longest: 100}), {code: 'ON_CHANGE_FAILED'})
  })

  it('is killed if it does not end when it is asked to', async () => {
    const stubborn = `trap '' TERM; echo $$ > ${file()}; while :; do sleep 1; done`
    await assert.rejects(run(stubborn, {longest: 300, grace: 100}), {code: 'ON_CHANGE_FAILED'})
    const pid = Number(await readFile(file(), 'utf8'))
    await until(() => Promise.resolve(!isRunning(pid)))
  })

  it('is not waited for if it cannot be killed', async () => {
    const {kill} = process
    let group = 0
    process.kill = (pid) => {
      group = pid
      throw Object.assign(new Error('not permitted'), {code: 'EPERM'})
    }
    try {
      const message = /did not end/
      await assert.rejects(run('sleep 60', {longest: 100, grace: 100}), {message})
    } finally {
      process.kill = kill
      process.kill(group, 'SIGKILL')
    }
  })

  it('is ended when the agent is stopped', async () => {
    const stop = new AbortController()
    const running = run(`echo > ${file()}; sleep 60`, {signal: stop.signal})
    await until(async () => (await readFile(file(), 'utf8').catch(() => '')) !== '')
    stop.abort(new Error('stopped'))
    await assert.rejects(running, /stopped/)
  })
})
