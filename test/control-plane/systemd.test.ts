import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {resolvePlane} from '../../src/control-plane/config/resolve.ts'
import {serverUnit} from '../../src/control-plane/server-unit.ts'
import {requireOwnUnit} from '../../src/control-plane/systemd.ts'

const PROGRAM = ['/usr/bin/trustadm']

describe('the unit of another control plane', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-unit-'))
  })
  afterEach(() => rm(folder, {recursive: true}))

  const planeIn = (name: string) => resolvePlane({dir: join(folder, name), flags: {bindPort: 1}})
  const check = async (name: string) => requireOwnUnit(await planeIn(name), PROGRAM, folder)

  it('is not replaced, one of the same folder is', async () => {
    await check('one')
    for (const flags of [[], ['--v', '2']]) {
      const {path, content} = serverUnit(await planeIn('one'), PROGRAM, folder, {flags})
      await writeFile(path, content)
      await check('one')
      for (const other of ['two', 'on', 'one two']) {
        await assert.rejects(check(other), {code: 'CONFLICT'})
      }
    }
  })
})
