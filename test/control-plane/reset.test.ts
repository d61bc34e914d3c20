import assert from 'node:assert/strict'
import {mkdir, readFile, readdir, stat, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {startEmbedded} from '../../src/control-plane/embedded.ts'
import {findPlane} from '../../src/control-plane/config/stored.ts'
import {planReset, reset} from '../../src/control-plane/reset.ts'
import {systemClock} from '../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

describe('reset', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.run('certs', 'kubeconfig')
  })
  afterEach(() => fixture.remove())

  const start = () =>
    startEmbedded(fixture.context.plane, {clock: systemClock, log: () => undefined})

  it('removes all that was written, the folder too', async () => {
    await (await start()).close(0)
    const {kept} = await reset(fixture.context.plane)
    assert.deepEqual(kept, [])
    await assert.rejects(stat(fixture.dir), {code: 'ENOENT'})
  })

  it('keeps files of others and says so', async () => {
    const foreign = join(fixture.dir, 'pki/notes.txt')
    await writeFile(foreign, 'mine')
    const {kept} = await reset(fixture.context.plane)
    assert.deepEqual(kept, [foreign])
    assert.equal(await readFile(foreign, 'utf8'), 'mine')
  })

  it('keeps a CA that an operator brought', async () => {
    const {generatedAuthorities} = fixture.context.plane
    const ours = generatedAuthorities.filter((id) => id !== 'ca')
    const plane = {...fixture.context.plane, generatedAuthorities: ours}
    const {keptAuthorities} = await planReset(plane)
    assert.deepEqual(keptAuthorities, [join(fixture.dir, 'pki/ca.crt')])
    await reset(plane)
    assert.deepEqual((await readdir(join(fixture.dir, 'pki'))).sort(), ['ca.crt', 'ca.key'])
  })

  it('refuses while a process uses the store and does not say who it is', async () => {
    const running = await start()
    try {
      await assert.rejects(reset(fixture.context.plane), {code: 'STORE_LOCKED'})
      assert.ok(await findPlane(fixture.dir))
    } finally {
      await running.close(0)
    }
  })

  it('does not follow a folder that was replaced by a link', async () => {
    const elsewhere = await planeFixture()
    try {
      await mkdir(join(elsewhere.dir, 'logs'))
      await writeFile(join(elsewhere.dir, 'logs/server.log'), 'theirs')
      await symlink(join(elsewhere.dir, 'logs'), join(fixture.dir, 'logs'))
      await assert.rejects(reset(fixture.context.plane), {code: 'FILE_UNSAFE'})
      assert.equal(await readFile(join(elsewhere.dir, 'logs/server.log'), 'utf8'), 'theirs')
    } finally {
      await elsewhere.remove()
    }
  })
})
