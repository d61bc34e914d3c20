import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {processIdentity} from '../../src/control-plane/process-identity.ts'
import {findServer, type ServerState} from '../../src/control-plane/server-state.ts'

describe('findServer', () => {
  let dir = ''
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trustadm-state-'))
  })
  afterEach(() => rm(dir, {recursive: true}))

  const write = (state: unknown) => writeFile(join(dir, 'server.json'), JSON.stringify(state))
  const own = async (): Promise<ServerState> => ({
    pid: process.pid,
    identity: (await processIdentity(process.pid)) ?? '',
    port: 1,
    endpoint: 'https://127.0.0.1:1',
    startedAt: '2026-01-01T00:00:00Z',
  })

  it('finds a process that runs', async () => {
    await write(await own())
    assert.equal((await findServer({dir}))?.pid, process.pid)
  })

  it('does not take another process for the server because it has its number', async () => {
    await write({...(await own()), identity: 'an-earlier-boot/1'})
    assert.equal(await findServer({dir}), undefined)
  })

  it('does not find a process that has ended', async () => {
    const child = spawn(process.execPath, ['-e', '0'])
    const state = {...(await own()), pid: child.pid}
    await once(child, 'exit')
    await write(state)
    assert.equal(await findServer({dir}), undefined)
  })

  for (const content of [{}, 'text', null, {pid: 'x', port: 1, identity: ''}]) {
    it(`finds nothing in ${JSON.stringify(content)}`, async () => {
      await write(content)
      assert.equal(await findServer({dir}), undefined)
    })
  }
})
