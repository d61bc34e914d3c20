import assert from 'node:assert/strict'
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {applyShared} from '../../../src/control-plane/ca-rotation/apply-shared.ts'
import {perform} from '../../../src/control-plane/ca-rotation/perform.ts'
import type {SharedRotation} from '../../../src/control-plane/ca-rotation/sealed-rotation.ts'
import {writeShared} from '../../../src/control-plane/ca-rotation/share.ts'
import {unitFor} from '../../../src/control-plane/ca-rotation/units.ts'
import {readMadeFiles} from '../../../src/fs/made-files.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {systemClock} from '../../../src/runtime.ts'
import type {PlaneFixture} from '../plane-fixture.ts'
import {contextFor, silent} from './support.ts'
import {TwoMachines} from './two-machines.ts'

const options = {clock: systemClock, log: silent}

describe('the files that a rotation hands to another machine', () => {
  let machines: TwoMachines

  beforeEach(async () => {
    machines = await TwoMachines.create()
  })
  afterEach(() => machines.remove())

  const pki = async ({dir}: PlaneFixture, name: string) =>
    (await readFile(join(dir, 'pki', name))).toString()
  const write = async ({dir}: PlaneFixture, name: string, text: string) => {
    await mkdir(join(dir, 'pki', name, '..'), {recursive: true, mode: 0o700})
    await writeFile(join(dir, 'pki', name), text, {mode: 0o600})
  }
  const withEtcd = ({journal, files}: SharedRotation, pin: string): SharedRotation => {
    const unit = {id: 'etcd-ca', old: {pin: 'before'}, new: {pin}}
    return {files, journal: {...journal, units: [...journal.units, unit]}}
  }

  it('are not those that somebody has left there', async () => {
    await machines.rotate('start')
    await write(machines.leader, 'rotation/old/ca.crt~', 'of an editor')
    const names = Object.keys((await machines.shared()).files)
    assert.ok(names.includes('old/ca.crt') && !names.includes('old/ca.crt~'))
  })

  it('leave the key of an external CA, which is nowhere else', async () => {
    const {follower} = machines
    const {plane} = follower.context
    await machines.rotate('start')
    assert.equal(await machines.follow(), true)
    const key = await pki(follower, 'rotation/old/ca.key')
    for (const name of ['ca.crt', 'ca.key'])
      await write(follower, name, await pki(follower, `rotation/new/${name}`))
    const {journal, files} = await machines.shared()
    const {'old/ca.key': _key, ...others} = files
    const units = journal.units.map((record) => unitFor(plane, record))
    await writeShared(plane, {journal, files: others}, units)
    assert.equal(await pki(follower, 'rotation/old/ca.key'), key)
  })

  it('need not have the CA of an etcd that is on another machine', async () => {
    const {follower, leader} = machines
    const old = await pki(follower, 'ca.crt')
    for (const name of ['ca.crt', 'ca.key'])
      await write(follower, `etcd/${name}`, await pki(follower, name))
    await machines.rotate('start')
    await machines.rotate('complete')
    const shared = await machines.shared()
    await applyShared(follower.context.plane, withEtcd(shared, 'unknown'), options)
    assert.equal(await pki(follower, 'etcd/ca.crt'), old)

    const next = await pki(leader, 'ca.crt')
    await write(follower, 'rotation/new/etcd-ca.crt', next)
    await write(follower, 'rotation/new/etcd-ca.key', await pki(leader, 'ca.key'))
    const pin = pinOf(parseCertificate(next))
    await applyShared(follower.context.plane, withEtcd(shared, pin), options)
    assert.equal(await pki(follower, 'etcd/ca.crt'), next)
  })

  it('do not bring the CA of an etcd to a machine that takes over', async () => {
    const {leader} = machines
    const {plane} = leader.context
    await machines.rotate('start')
    const {journal} = withEtcd(await machines.shared(), 'unknown')
    await perform(contextFor(plane), journal, {
      id: 'sign-servers',
      summary: '',
      work: {kind: 'arrange', clients: 'new', servers: 'new', trusts: ['old', 'new']},
    })
    assert.ok(!(await readdir(join(leader.dir, 'pki'))).includes('etcd'))
  })

  it('replace what an operator has provided only after a copy of it was made', async () => {
    const {follower} = machines
    const names = ['ca.key', 'ca.crt', 'sa.key', 'sa.pub']
    const before = await Promise.all(names.map((name) => pki(follower, name)))
    await machines.rotate('start')
    await machines.rotate('complete')
    await machines.begin()
    assert.equal(await machines.follow(), true)
    assert.notEqual(await pki(follower, 'ca.key'), before[0])
    const backups = join(follower.dir, 'backups')
    const folders = await readdir(backups)
    for (const [index, name] of names.entries()) {
      const copies = await Promise.all(
        folders.map((folder) =>
          readFile(join(backups, folder, `pki_${name}`), 'utf8').catch(() => ''),
        ),
      )
      assert.ok(copies.includes(before[index] ?? ''), name)
    }
    const made = await readMadeFiles(follower.context.plane)
    assert.deepEqual(
      names.filter((name) => made.has(`pki/${name}`)),
      [],
    )
  })
})
