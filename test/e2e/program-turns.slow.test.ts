import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {readdir, rename, writeFile, mkdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import {savePlane} from '../../src/control-plane/config/stored.ts'
import {planeFixture} from '../control-plane/plane-fixture.ts'
import {PROGRAM, programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'

const YEAR = 365 * 86_400_000

describe('the built program, used in odd ways', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  beforeEach(async () => {
    fixture = await programFixture()
  })
  afterEach(() => fixture.remove())

  it('makes one control plane where init is run several times at once', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => fixture.init('--output', 'json')))
    assert.deepEqual(
      runs.map(({code}) => code),
      [0, 0, 0],
      runs.map(({stderr}) => stderr).join(),
    )
    assert.equal(new Set(runs.map(({stdout}) => stdout)).size, 1)
    const client = await connect(join(fixture.dir, 'admin.conf'))
    assert.ok(await client.namespaces.find({name: 'kube-system'}))
    await client.close()
    const {stdout} = await trustadm('reset', '--yes', '--dir', fixture.dir)
    assert.doesNotMatch(stdout, /kept/)
    await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
  })

  it('does not call a server ready that was left out', async () => {
    const {stdout} = await fixture.init(
      '--skip-phases',
      'control-plane,namespaces,rbac,kubeadm-config,cluster-info,mark-control-plane,bootstrap-token',
    )
    assert.match(stdout, /its server is not running/)
    assert.doesNotMatch(stdout, /is ready/)
  })

  it('prints the plan of a dry run as its result, and writes nothing', async () => {
    const {code, stdout, stderr} = await fixture.init('--dry-run', '--output', 'json')
    assert.equal(code, 0, stderr)
    const {changes} = JSON.parse(stdout) as {changes: {phase: string; change: string}[]}
    assert.ok(changes.some(({phase}) => phase === 'certs'))
    await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
  })

  it("removes nothing from a folder with another program's config.yaml", async () => {
    await mkdir(fixture.dir)
    await writeFile(join(fixture.dir, 'config.yaml'), 'apiVersion: v1\nkind: Config\n')
    await writeFile(join(fixture.dir, 'admin.conf'), 'theirs')
    const {code} = await trustadm('reset', '--yes', '--dir', fixture.dir)
    assert.equal(code, 2)
    assert.deepEqual((await readdir(fixture.dir)).sort(), ['admin.conf', 'config.yaml'])
  })

  it('does not guess settings that were lost', async () => {
    await fixture.init()
    const config = join(fixture.dir, 'config.yaml')
    await rename(config, `${config}.away`)
    const {code, stderr} = await trustadm('init', '--dir', fixture.dir)
    assert.equal(code, 2)
    assert.match(stderr, /but no config\.yaml/)
    await rename(`${config}.away`, config)
    assert.equal((await trustadm('status', '--dir', fixture.dir)).code, 0)
  })

  it('gives a running server new certificates once its own have expired', async () => {
    await mkdir(fixture.dir)
    const plane = await planeFixture({}, fixture.dir)
    plane.context.clock = {now: () => new Date(Date.now() - 2 * YEAR)}
    await plane.run('certs', 'kubeconfig')
    await savePlane(plane.context.plane)
    const server = spawn(process.execPath, [PROGRAM, 'serve', '--dir', fixture.dir], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await once(server.stdout, 'data')
    assert.equal((await trustadm('status', '--dir', fixture.dir)).code, 3)
    const pid = await fixture.serverPid()

    const {code, stderr} = await fixture.init()
    assert.equal(code, 0, stderr)
    assert.match(stderr, /"apiserver" was replaced: it expired/)
    assert.equal(await fixture.serverPid(), pid)
  })
})
