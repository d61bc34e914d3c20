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
import type {AuditedRequest} from '../../../src/server/audit/event.ts'
import {NOW, TestClock, request} from '../authn/support.ts'

const run = promisify(execFile)

const audited = (auditId: string): AuditedRequest => ({
  auditId,
  request: request(),
  code: 200,
  received: NOW,
  answered: NOW,
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
    openAuditLog({path, level: 'metadata', clock: new TestClock(), ...options})

  const idsIn = async (file: string) =>
    (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as {auditID?: string}).auditID)

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

  it('writes nothing at level none', async () => {
    const log = open({level: 'none'})
    log.record(audited('1'))
    await log.close()
    assert.deepEqual(await readdir(folder), [])
  })

  it('keeps to so many files of so many bytes, and loses only the oldest lines', async () => {
    const log = open({maxBytes: 1000, files: 3})
    for (let id = 0; id < 50; id += 1) {
      log.record(audited(String(id)))
      await log.flush()
    }
    await log.close()
    assert.deepEqual((await readdir(folder)).sort(), ['audit.log', 'audit.log.1', 'audit.log.2'])
    const kept: (string | undefined)[] = []
    for (const file of ['audit.log.2', 'audit.log.1', 'audit.log']) {
      assert.ok((await stat(join(folder, file))).size <= 1000)
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
    assert.deepEqual(JSON.parse(lines[0] ?? ''), {ts: NOW.toISOString(), lostLines: 2})
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
