import assert from 'node:assert/strict'
import {startCommand} from '../../src/control-plane/plane-command.ts'
import {defaultDir} from '../../src/fs/default-folders.ts'

describe('startCommand', () => {
  it('names the folder only if it is not the default one', async () => {
    assert.equal(await startCommand({dir: defaultDir()}), 'trustadm start')
    const other = await startCommand({dir: '/srv/a plane'})
    assert.equal(other, "trustadm start --dir '/srv/a plane'")
  })
})
