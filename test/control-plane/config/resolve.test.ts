import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {resolvePlane} from '../../../src/control-plane/config/resolve.ts'

describe('the port of a control plane that is to be picked', () => {
  let dir = ''
  before(async () => (dir = await mkdtemp(join(tmpdir(), 'trustadm-port-'))))
  after(() => rm(dir, {recursive: true, force: true}))

  const pick = async (bindAddress: string) => {
    const {settings} = await resolvePlane({dir, flags: {bindAddress, bindPort: 0}})
    return settings.bindPort
  }

  it('is none that the system gives to outgoing connections, or Kubernetes to services', async () => {
    const ports = await Promise.all(Array.from({length: 20}, () => pick('127.0.0.1')))
    for (const port of ports) assert.ok(port >= 10_000 && port < 30_000, String(port))
    assert.ok(new Set(ports).size > 10)
  })

  it('is not looked for on an address of another machine', async () => {
    await assert.rejects(pick('192.0.2.1'), {code: 'PREFLIGHT_FAILED'})
  })
})
