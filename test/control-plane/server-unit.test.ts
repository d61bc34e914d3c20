import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {resolvePlane} from '../../src/control-plane/config/resolve.ts'
import {systemCode} from '../../src/errors.ts'
import type {Choices} from '../../src/control-plane/config/settings.ts'
import {unitIn} from '../../src/control-plane/runner.ts'
import {serverUnit} from '../../src/control-plane/server-unit.ts'

const run = promisify(execFile)
const ROOT = {uid: 0, username: 'root'}
const valueOf = (content: string, name: string) =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(content)?.[1]

describe('the unit of a control plane', () => {
  const unit = async (dir: string, choices: Choices = {}, user = ROOT) => {
    const plane = await resolvePlane({dir, flags: choices})
    return serverUnit(plane, ['/usr/bin/node', '/opt/trustadm'], '/units', {user})
  }

  it('runs serve with whole paths, and again after a failure', async () => {
    const {path, content} = await unit('/srv/plane')
    assert.equal(path, '/units/trustadm.service')
    const command = '/usr/bin/node /opt/trustadm serve --dir /srv/plane'
    assert.equal(valueOf(content, 'ExecStart'), command)
    assert.equal(valueOf(content, 'Restart'), 'on-failure')
    assert.equal(valueOf(content, 'User'), undefined)
  })

  it('runs as the user whose control plane it is', async () => {
    const {content} = await unit('/srv/plane', {}, {uid: 1000, username: 'ada'})
    assert.equal(valueOf(content, 'User'), 'ada')
  })

  it('may write where the control plane does, and nowhere else', async () => {
    const own = await unit('/srv/plane')
    assert.equal(valueOf(own.content, 'ReadWritePaths'), '/srv/plane')
    const apart = await unit('/srv/a b', {certificatesDir: '/etc/pki', auditLogPath: '/log/a.log'})
    assert.equal(valueOf(apart.content, 'ReadWritePaths'), '"/srv/a b" /etc/pki /log')
  })

  it('has no setting that a path has added: line breaks and other control characters are refused', async () => {
    const plane = await resolvePlane({dir: '/srv/plane', flags: {}})
    const inject = '/srv/a\nExecStartPre=/tmp/evil'
    const certs = {...plane, settings: {...plane.settings, certificatesDir: inject}}
    const log = {...plane, settings: {...plane.settings, auditLogPath: `${inject}/audit.log`}}
    for (const hostile of [{...plane, dir: inject}, {...plane, dir: '/a\r'}, certs, log]) {
      assert.throws(() => serverUnit(hostile, ['/node'], '/units', {user: ROOT}), {code: 'USAGE'})
    }
    const user = ROOT
    const flags = ['--external-hostname', 'a\nUser=root']
    assert.throws(() => serverUnit(plane, ['/node\n'], '/units', {user}), {code: 'USAGE'})
    assert.throws(() => serverUnit(plane, ['/node'], '/units', {user, flags}), {code: 'USAGE'})
    for (const dir of ['/srv/plane\\', '/srv/plane ']) {
      const make = () => serverUnit({...plane, dir}, ['/node'], '/units', {user: ROOT})
      assert.throws(make, {code: 'USAGE'}, dir)
    }
  })

  it('names paths with special characters as they are', async () => {
    const {content} = await unit('/srv/50%/$a "b"')
    assert.equal(valueOf(content, 'WorkingDirectory'), '/srv/50%%/$a "b"')
    assert.equal(valueOf(content, 'ReadWritePaths'), String.raw`"/srv/50%%/$a \"b\""`)
  })

  it('has a /tmp of its own, unless the control plane is in that', async () => {
    assert.equal(valueOf((await unit('/srv/plane')).content, 'PrivateTmp'), 'yes')
    assert.equal(valueOf((await unit('/tmp/plane')).content, 'PrivateTmp'), undefined)
  })

  it('is one that systemd understands', async function () {
    const folder = await mkdtemp(join(tmpdir(), 'trustadm-unit-'))
    try {
      const plane = await resolvePlane({dir: folder, flags: {}})
      const {content} = serverUnit(plane, [process.execPath, '/opt/trustadm'], folder, {user: ROOT})
      const file = join(folder, 'trustadm.service')
      await writeFile(file, content)
      const {stderr} = await run('systemd-analyze', ['verify', '--man=no', file]).catch(
        (error: unknown) => {
          // There is nothing to check it with on this machine.
          if (systemCode(error) === 'ENOENT') this.skip()
          return error as {stderr: string}
        },
      )
      const about = stderr.split('\n').filter((line) => line.includes('trustadm'))
      assert.deepEqual(about, [])
    } finally {
      await rm(folder, {recursive: true})
    }
  })
})

describe('the unit of a process', () => {
  it('is found in its control groups', () => {
    assert.equal(unitIn('0::/system.slice/trustadm.service\n'), 'trustadm.service')
    assert.equal(unitIn('1:name=systemd:/system.slice/a.service\n0::/\n'), 'a.service')
    assert.equal(unitIn('0::/user.slice/user-0.slice/session-1.scope\n'), undefined)
    assert.equal(unitIn(''), undefined)
  })
})
