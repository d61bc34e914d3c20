import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {openAuditLog} from '../../../src/server/audit/audit-log.ts'
import type {AuditLogOptions} from '../../../src/server/audit/audit-log.ts'
import type {AuditEvent, AuditedRequest} from '../../../src/server/audit/event.ts'
import {parseRequestInfo} from '../../../src/server/authz/request-info.ts'
import {NOW, TestClock, request, user} from '../authn/support.ts'

const run = promisify(execFile)
const DAY = 86_400_000

const audited = (auditId: string, parts: Partial<AuditedRequest> = {}): AuditedRequest => ({
  auditId,
  request: request(),
  caller: user('ann'),
  code: 200,
  received: NOW,
  answered: NOW,
  ...parts,
})

describe('openAuditLog', () => {
  let folder: string
  let path: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-audit-'))
    path = join(folder, 'audit.log')
  })

  afterEach(async () => {
    await rm(folder, {recursive: true})
  })

  const open = (options: Partial<AuditLogOptions> = {}) =>
    openAuditLog({path, clock: new TestClock(), ...options})

  const idsIn = async (file: string) =>
    (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEvent)
      .map(({auditID, verb}) => (verb === '' ? undefined : auditID))

  it('writes one line of JSON a request, in order', async () => {
    const log = open()
    for (const id of ['1', '2', '3']) log.record(audited(id))
    await log.close()
    assert.deepEqual(await idsIn(path), ['1', '2', '3'])
  })

  it('goes on where an earlier log ended', async () => {
    for (const id of ['1', '2']) {
      const log = open()
      log.record(audited(id))
      await log.close()
    }
    assert.deepEqual(await idsIn(path), ['1', '2'])
  })

  it('is readable by its owner only, also where it was not', async () => {
    await writeFile(path, '')
    await chmod(path, 0o644)
    const log = open()
    log.record(audited('1'))
    await log.close()
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  })

  it('writes nothing if none is wanted', async () => {
    const log = openAuditLog(undefined)
    log.record(audited('1'))
    await log.close()
    assert.deepEqual(await readdir(folder), [])
  })

  it('keeps to so many files of so many bytes, and loses only the oldest lines', async () => {
    const log = open({maxBytes: 2000, maxBackups: 2})
    for (let id = 0; id < 50; id += 1) {
      log.record(audited(String(id)))
      await log.flush()
    }
    await log.close()
    const files = (await readdir(folder)).sort()
    assert.equal(files.length, 3)
    const kept: (string | undefined)[] = []
    for (const file of files) {
      assert.match(file, /^audit(-2026-01-01T00-00-00\.\d{3})?\.log$/)
      assert.ok((await stat(join(folder, file))).size <= 2000)
      kept.push(...(await idsIn(join(folder, file))))
    }
    const first = 50 - kept.length
    assert.deepEqual(
      kept,
      kept.map((_, index) => String(first + index)),
    )
    assert.ok(kept.length >= 10)
  })

  it('does not make a request wait, or fail, where nothing can be written', async () => {
    const errors: unknown[] = []
    const log = open({path: join(folder, 'missing', 'audit.log'), onError: (e) => errors.push(e)})
    log.record(audited('1'))
    await log.flush()
    log.record(audited('2'))
    await log.flush()
    assert.equal(log.lost, 2)
    assert.equal(errors.length, 1)
    await log.close()
  })

  it('says how much it has lost once it can write again', async () => {
    const log = open({path: join(folder, 'later', 'audit.log')})
    log.record(audited('1'))
    log.record(audited('2'))
    await log.flush()
    await mkdir(join(folder, 'later'))
    log.record(audited('3'))
    await log.close()
    const lines = (await readFile(join(folder, 'later', 'audit.log'), 'utf8')).trim().split('\n')
    const {kind, annotations} = JSON.parse(lines[0] ?? '') as AuditEvent
    assert.deepEqual([kind, annotations], ['Event', {'trustadm.io/lost-lines': '2'}])
    assert.equal((JSON.parse(lines[1] ?? '') as {auditID: string}).auditID, '3')
  })

  it('survives a disk that is full, with every line before it whole', async () => {
    const script = fileURLToPath(new URL('fill-disk.ts', import.meta.url))
    const command = 'ulimit -f 1024; exec "$0" --import tsx "$1" "$2"'
    const {stdout} = await run('bash', ['-c', command, process.execPath, script, path])
    const {codes, lost} = JSON.parse(stdout) as {codes: string[]; lost: number}
    assert.deepEqual(codes, ['EFBIG'])
    assert.ok(lost > 1000)
    const lines = (await readFile(path, 'utf8')).split('\n')
    for (const line of lines.slice(0, -1)) JSON.parse(line)
    assert.ok(lines.length > 1000)
  })

  it('keeps files that were put aside for so long, and no other file', async () => {
    const clock = new TestClock()
    const log = open({clock, maxBytes: 100, maxBackups: 0, maxAgeMilliseconds: 2 * DAY})
    await writeFile(join(folder, 'audit-anything.log'), '')
    for (const id of ['1', '2', '3', '4', '5']) {
      log.record(audited(id))
      await log.flush()
      clock.advance(DAY)
    }
    await log.close()
    assert.deepEqual((await readdir(folder)).sort(), [
      'audit-2026-01-03T00-00-00.000.log',
      'audit-2026-01-04T00-00-00.000.log',
      'audit-2026-01-05T00-00-00.000.log',
      'audit-anything.log',
      'audit.log',
    ])
  })

  it('does not let callers without credentials push out an administrator’s lines', async () => {
    const log = open({maxBytes: 2000, maxBackups: 1})
    log.record(audited('admin'))
    const refused = 'the token has expired'
    const nobody = user('system:anonymous', 'system:unauthenticated')
    for (let id = 0; id < 8099; id += 1) {
      const {caller: _, ...unknown} = audited(`nobody-${id}`)
      log.record(
        id % 2 === 0 ? {...unknown, code: 401, refused} : {...unknown, code: 403, caller: nobody},
      )
    }
    await log.close()
    assert.deepEqual(await idsIn(path), ['admin'])
    const anonymous = (await readFile(join(folder, 'audit-anonymous.log'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEvent)
    const summaries = anonymous.slice(-2)
    assert.deepEqual(
      summaries.map(({responseStatus, annotations, sourceIPs}) => [
        responseStatus?.code,
        annotations,
        sourceIPs,
      ]),
      [
        [401, {'trustadm.io/requests': '4040', 'trustadm.io/refused': refused}, ['192.0.2.1']],
        [403, {'trustadm.io/requests': '4039'}, ['192.0.2.1']],
      ],
    )
  })

  it('does not let nodes and tokens push out an administrator’s lines', async () => {
    const log = open({maxBytes: 2000, maxBackups: 1})
    log.record(audited('admin'))
    for (let id = 0; id < 500; id += 1) {
      log.record(audited(`n${id}`, {caller: user('system:node:a', 'system:nodes')}))
      log.record(audited(`t${id}`, {caller: user('system:bootstrap:a', 'system:bootstrappers')}))
      await log.flush()
    }
    await log.close()
    assert.deepEqual(await idsIn(path), ['admin'])
    assert.equal((await idsIn(join(folder, 'audit-nodes.log'))).at(-1), 'n499')
    assert.equal((await idsIn(join(folder, 'audit-tokens.log'))).at(-1), 't499')
  })

  const POD = user('system:serviceaccount:default:pod', 'system:serviceaccounts')
  const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
  const ask = (auditId: string, parts: Partial<AuditedRequest> = {}) => {
    const info = parseRequestInfo('POST', CONFIG_MAPS, new URLSearchParams())
    const made = request({method: 'POST', path: CONFIG_MAPS})
    return audited(auditId, {request: made, info, code: 201, ...parts})
  }
  const write = (auditId: string, parts: Partial<AuditedRequest> = {}) =>
    ask(auditId, {hasWritten: true, ...parts})

  it('does not let a service account push out an administrator’s lines, whatever it does', async () => {
    const log = open({maxBytes: 2000, maxBackups: 1})
    log.record(audited('admin'))
    for (let id = 0; id < 500; id += 1) {
      log.record(write(`w${id}`, {caller: POD}))
      log.record(audited(`r${id}`, {caller: POD, code: 403}))
      await log.flush()
    }
    await log.close()
    assert.deepEqual(await idsIn(path), ['admin'])
  })

  it('does not let a caller push out the lines of others of its kind by what is refused or only asks', async () => {
    const log = open()
    const other = user('system:serviceaccount:default:other', 'system:serviceaccounts')
    log.record(audited('other', {caller: other}))
    for (let id = 0; id < 20_000; id += 1) {
      log.record(ask(`refused-${id}`, {caller: POD, code: 403}))
      log.record(audited(`read-${id}`, {caller: POD}))
      log.record(ask(`review-${id}`, {caller: POD}))
    }
    await log.close()
    const lines = (await readFile(join(folder, 'audit-serviceaccounts.log'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEvent)
    assert.equal(lines[0]?.auditID, 'other')
    assert.equal(lines.length, 1 + 1000 + 100 + 3)
    const counted = lines.filter(({annotations}) => annotations?.['trustadm.io/requests'])
    const requests = (codes: number[]) =>
      counted
        .filter(({user: {username}}) => username === POD.username)
        .filter(({responseStatus}) => codes.includes(responseStatus?.code ?? 0))
        .reduce((sum, {annotations}) => sum + Number(annotations?.['trustadm.io/requests']), 0)
    assert.deepEqual([requests([403]), requests([200, 201])], [19_900, 39_000])
  })

  it('lists every write that was done, and gives each caller lines again after a while', async () => {
    const log = open()
    const later = new Date(NOW.getTime() + 10_000)
    for (let id = 0; id < 3000; id += 1) log.record(audited(`${id}`))
    for (let id = 0; id < 3000; id += 1) log.record(write(`w${id}`))
    for (let id = 0; id < 300; id += 1) log.record(ask(`broken${id}`, {code: 500}))
    for (let id = 0; id < 100; id += 1) log.record(audited(`later-${id}`, {received: later}))
    await log.close()
    const ids = await idsIn(path)
    assert.equal(ids.filter((id) => id?.startsWith('w')).length, 3000)
    assert.equal(ids.filter((id) => id?.startsWith('broken')).length, 300)
    assert.equal(ids.filter((id) => id?.startsWith('later')).length, 50)
  })

  it('does not let a token push them out by what controllers do with its requests', async () => {
    const log = open({maxBytes: 2000, maxBackups: 1})
    log.record(audited('admin'))
    const caller = user('system:serviceaccount:kube-system:certificate-controller')
    for (let id = 0; id < 100; id += 1) {
      const line = audited(`c${id}`, {caller})
      log.record({...line, request: {...line.request, caller}})
      await log.flush()
    }
    await log.close()
    assert.deepEqual(await idsIn(path), ['admin'])
    assert.equal((await idsIn(join(folder, 'audit-controllers.log'))).at(-1), 'c99')
  })

  it('says that it cannot be written until it can', async () => {
    const log = open({path: join(folder, 'later', 'audit.log')})
    await log.check()
    log.record(audited('1'))
    await log.flush()
    await assert.rejects(log.check(), {code: 'ENOENT'})
    await mkdir(join(folder, 'later'))
    await log.check()
    await log.close()
  })

  it('does not write to a device', async () => {
    const log = open({path: '/dev/full'})
    log.record(audited('1'))
    await log.close()
    assert.equal(log.lost, 1)
  })

  it('drops lines rather than memory where the disk is slower than the callers', async () => {
    const log = open({maxPendingBytes: 2000})
    for (let id = 0; id < 1000; id += 1) log.record(audited(String(id)))
    assert.ok(log.lost > 900)
    await log.close()
    assert.equal((await idsIn(path)).filter((id) => id !== undefined).length, 1000 - log.lost)
  })

  it('does not follow a planted symlink', async () => {
    const target = join(folder, 'target')
    await writeFile(target, 'precious')
    await symlink(target, path)
    const log = open()
    log.record(audited('1'))
    await log.close()
    assert.equal(log.lost, 1)
    assert.equal(await readFile(target, 'utf8'), 'precious')
  })

  it('does not hang on a planted FIFO', async () => {
    await run('mkfifo', [path])
    const log = open()
    log.record(audited('1'))
    await log.close()
    assert.equal(log.lost, 1)
  })
})
