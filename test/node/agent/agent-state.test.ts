import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {readAgentState} from '../../../src/node/agent/agent-state.ts'
import {nodeFile} from '../../../src/node/node-files.ts'
import {useFolder} from '../support.ts'

describe('the state of an agent', () => {
  const folder = useFolder()
  const read = async (text: string) => {
    await writeFile(nodeFile(folder(), 'agentState'), text)
    return await readAgentState(folder())
  }
  const nothing = {client: {}, serving: {}, clusterInfo: {}}

  it('is read as it was written', async () => {
    const state = {...nothing, rotateAt: '0.7-0.9', client: {lastAttempt: '2026-01-01T00:00:00Z'}}
    assert.deepEqual(await read(JSON.stringify(state)), state)
  })

  for (const text of ['{', 'null', '[]', '{"client": null}', '{"serving": 1}', '{"rotateAt": 7}']) {
    it(`is empty if its file contains ${text}`, async () => {
      assert.deepEqual(await read(text), nothing)
    })
  }
})
