import assert from 'node:assert/strict'
import {mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {SeenClientsFile} from '../../../src/server/authn/seen-clients-file.ts'
import type {SeenClients} from '../../../src/server/authn/seen-clients.ts'
import {until} from '../support.ts'
import {HOUR, NOW, TestClock} from './support.ts'

describe('SeenClientsFile', () => {
  let folder: string
  let path: string
  let clock: TestClock
  let errors: string[]
  const onError = (message: string, error: unknown) => errors.push(`${message}: ${String(error)}`)
  /** Without a time, longer than any test. */
  const open = (everyMilliseconds = HOUR) =>
    SeenClientsFile.open({path, clock, onError, everyMilliseconds})
  const note = (clients: SeenClients, fingerprint: string) =>
    clients.note(
      {name: 'ann', groups: []},
      {
        fingerprint,
        issuerPin: 'sha256:1',
        serial: fingerprint,
        notAfter: new Date(NOW.getTime() + HOUR),
      },
      {now: clock.now(), userAgent: 'test', remoteAddress: '192.0.2.1'},
    )
  const serials = (clients: SeenClients) => clients.list().clients.map(({serial}) => serial)

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'seen-clients-'))
    path = join(folder, 'seen-clients.json')
    clock = new TestClock()
    errors = []
  })
  afterEach(() => rm(folder, {recursive: true, force: true}))

  it('leaves a file as it is that has everything, and removes a torn log beside it', async () => {
    const first = await open()
    note(first.clients, 'a')
    await first.close()
    await rm(`${path}.0`, {force: true})
    await writeFile(`${path}.1`, '{"kind":"cl')
    const before = await stat(path)

    const second = await open()
    assert.deepEqual(serials(second.clients), ['a'])
    assert.equal((await stat(path)).ino, before.ino)
    await assert.rejects(stat(`${path}.1`), {code: 'ENOENT'})
    note(second.clients, 'b')
    await second.close()

    const third = await open()
    assert.deepEqual(serials(third.clients).sort(), ['a', 'b'])
    await third.close()
    assert.deepEqual(errors, [])
  })

  it('knows after a restart who was seen, and since when it remembers', async () => {
    const first = await open()
    note(first.clients, 'one')
    await first.close()
    clock.advance(HOUR)
    const second = await open()
    assert.deepEqual(second.list(), first.list())
    assert.equal(second.list().since, NOW.toISOString())
    await second.close()
    assert.deepEqual(errors, [])
  })

  it('is there before the first client comes, so that a lost list is never taken for a complete one', async () => {
    // As after a kill: neither is closed.
    await open()
    clock.advance(HOUR)
    const second = await open()
    assert.equal(second.since, NOW.toISOString())
    await rm(path)
    const third = await open()
    assert.equal(third.since, clock.now().toISOString())
    await third.close()
  })

  it('knows the Nodes that were deleted after a kill, and forgets the first of too many', async () => {
    const killed = await open()
    killed.nodeDeleted('w1')
    clock.advance(HOUR)
    for (const name of ['w2', 'w1']) killed.nodeDeleted(name)
    const written = async () => await readFile(`${path}.0`, 'utf8').catch(() => '')
    await until(async () => (await written()).split('\n').length > 3)
    const time = clock.now().toISOString()
    const expected = [
      {name: 'w2', time},
      {name: 'w1', time},
    ]
    const second = await open()
    assert.deepEqual(second.list().deletedNodes, expected)
    for (let index = 0; index < 16_383; index += 1) second.nodeDeleted(`other-${index}`)
    await second.close()
    const third = await open()
    const {deletedNodes = []} = third.list()
    assert.equal(deletedNodes.length, 16_384)
    assert.deepEqual(deletedNodes[0], {name: 'w1', time})
    await third.close()
    assert.deepEqual(errors, [])
  })

  it('loses nobody when the process is killed', async () => {
    const killed = await open()
    note(killed.clients, 'one')
    note(killed.tokens, 'two')
    await until(async () => (await readFile(`${path}.0`, 'utf8').catch(() => '')).includes('"two"'))
    await writeFile(`${path}.1`, '{"kind":"client","finger', {mode: 0o600})
    const second = await open()
    assert.deepEqual([serials(second.clients), serials(second.tokens)], [['one'], ['two']])
    await second.close()
    assert.deepEqual(errors, [])
    for (const log of ['.0', '.1']) await assert.rejects(stat(path + log), {code: 'ENOENT'})
  })

  it('keeps nothing in its log that the list has', async () => {
    const file = await open(1)
    note(file.clients, 'one')
    await until(async () => (await readFile(path, 'utf8')).includes('"one"'))
    await file.close()
    for (const log of ['.0', '.1']) await assert.rejects(stat(path + log), {code: 'ENOENT'})
  })

  it('does not know of whom an earlier release has dropped clients', async () => {
    await writeFile(path, JSON.stringify({...valid, dropped: 3}), {mode: 0o600})
    const file = await open()
    const lastSeen = NOW.toISOString()
    assert.deepEqual(file.list().forgotten, [{issuerPin: '', count: 3, lastSeen}])
    await file.close()
  })

  it('can be read by its owner only', async () => {
    const file = await open()
    note(file.clients, 'one')
    await file.close()
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  })

  it('writes by itself what is new, and later times too', async () => {
    const file = await open(1)
    note(file.clients, 'one')
    await until(async () => (await readFile(path, 'utf8').catch(() => '')).includes('"one"'))
    clock.advance(1000)
    note(file.clients, 'one')
    await until(async () => (await readFile(path, 'utf8')).includes('00:00:01'))
    await file.close()
  })

  it('writes nothing if nobody was seen since the last time', async () => {
    const first = await open()
    note(first.clients, 'one')
    await first.close()
    await rm(path)
    await first.close()
    await assert.rejects(stat(path), {code: 'ENOENT'})
  })

  it('reports a failing disk once, and writes everything as soon as it works', async () => {
    path = join(folder, 'missing', 'seen-clients.json')
    const file = await open(1)
    note(file.clients, 'one')
    await until(() => errors.length > 0)
    note(file.clients, 'two')
    await file.close()
    assert.equal(errors.length, 1)
    assert.match(errors[0] ?? '', /^cannot record which clients were seen: /)

    await mkdir(join(folder, 'missing'), {mode: 0o700})
    await file.close()
    const again = await open()
    assert.deepEqual(serials(again.clients).sort(), ['one', 'two'])
    await again.close()
  })

  const client = {
    ...{fingerprint: 'f', issuerPin: 'p', user: 'u', groups: ['g'], serial: '1', userAgent: ''},
    ...{address: '', firstSeen: '2026-01-01', lastSeen: '2026-01-01', notAfter: '2026-01-01'},
  }
  const valid = {since: '2026-01-01', dropped: 0, clients: [client]}
  const broken: [string, string][] = [
    ['cut off', JSON.stringify(valid).slice(0, -9)],
    ['null', 'null'],
    ['of another kind', '{}'],
    ['with tokens of another kind', JSON.stringify({...valid, tokens: {clients: [1]}})],
    ['with a wrong count', JSON.stringify({...valid, forgotten: [{issuerPin: 'p'}]})],
    ['without a valid time', JSON.stringify({...valid, since: 'yesterday'})],
    ['with a client that lacks a field', JSON.stringify({...valid, clients: [{user: 'ann'}]})],
    [
      'with groups of another type',
      JSON.stringify({...valid, clients: [{...client, groups: [1]}]}),
    ],
    [
      'with a deleted Node without a time',
      JSON.stringify({...valid, deletedNodes: [{name: 'w1'}]}),
    ],
  ]
  for (const [name, content] of broken) {
    it(`starts again if the file is ${name}, and says so`, async () => {
      await writeFile(path, content, {mode: 0o600})
      const file = await open()
      const none = {dropped: 0, forgotten: [], clients: []}
      const since = NOW.toISOString()
      assert.deepEqual(file.list(), {since, ...none, tokens: none, deletedNodes: []})
      assert.equal(errors.length, 1)
      assert.match(errors[0] ?? '', /clients seen earlier are not known: .*seen-clients\.json/)
      note(file.clients, 'one')
      await file.close()
      const again = await open()
      assert.deepEqual(serials(again.clients), ['one'])
      await again.close()
    })
  }

  it('reads a file that is complete', async () => {
    await writeFile(path, JSON.stringify(valid), {mode: 0o600})
    const file = await open()
    assert.deepEqual(serials(file.clients), ['1'])
    assert.deepEqual(errors, [])
    await file.close()
  })
})
