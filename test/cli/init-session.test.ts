import assert from 'node:assert/strict'
import {mkdir, mkdtemp, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openSession} from '../../src/cli/init-session.ts'
import {lockFolder} from '../../src/fs/folder-lock.ts'
import {openPlaneEtcd} from '../../src/control-plane/plane-storage.ts'
import {planeFixture} from '../control-plane/plane-fixture.ts'
import {systemClock} from '../../src/runtime.ts'

const REMOTE = 'http://192.0.2.1:2379'

describe('init with an etcd on another machine without TLS', () => {
  it('is refused before anything is written', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'trustadm-init-session-'))
    try {
      const flags = {dir, 'etcd-servers': REMOTE, quiet: true, verbose: false}
      await assert.rejects(openSession(flags, systemClock), {code: 'CONFIG_INVALID'})
      assert.deepEqual(await readdir(dir), [])
    } finally {
      await rm(dir, {recursive: true, force: true})
    }
  })

  it('works again for a control plane that has it, whose server warns in its log', async () => {
    const fixture = await planeFixture({etcdServers: [REMOTE]})
    const {plane} = fixture.context
    try {
      await fixture.run('certs')
      await openSession({dir: plane.dir, quiet: true, verbose: false}, systemClock)
      const flags = {dir: plane.dir, 'etcd-servers': REMOTE, quiet: true, verbose: false}
      await openSession(flags, systemClock)

      // So that nothing is sent to that address.
      const lines: string[] = []
      const store = join(plane.dir, 'store')
      await mkdir(store, {mode: 0o700})
      const release = await lockFolder(store)
      const opening = openPlaneEtcd(plane, (line) => void lines.push(line))
      await assert.rejects(opening, {code: 'STORE_LOCKED'})
      await release()
      assert.match(lines.join(), /^warning: http:\/\/192\.0\.2\.1:2379 of etcd: .*unencrypted/)
    } finally {
      await fixture.remove()
    }
  })
})
