import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {constants} from 'node:fs'
import {
  appendFile,
  chmod,
  lstat,
  readFile,
  readdir,
  readlink,
  rename,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import {join} from 'node:path'
import {mock} from 'node:test'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {readLogKey} from '../../../src/controllers/signing/log-key.ts'
import type {LogEntry} from '../../../src/controllers/signing/log-line.ts'
import {readLog} from '../../../src/controllers/signing/read-log.ts'
import {NOW, fixedClock, useTemporaryFolder} from '../../pki/support.ts'

const issuance = (request: string): Issuance => ({
  decision: 'issued',
  signer: 'kubernetes.io/kube-apiserver-client',
  request,
  uid: 'u',
  requester: 'ada',
  subject: 'CN=ada',
  names: {dns: [], ips: [], emails: [], uris: []},
  serial: '1f',
})

/** All lines, changed and given hashes that fit, as anybody can who has no key. */
function rewritten(lines: readonly string[], change: (said: string) => string): string {
  let prev = '0'.repeat(64)
  return lines
    .map((line) => {
      const {hash: _hash, ...entry} = JSON.parse(line) as LogEntry
      const covered = change(JSON.stringify({...entry, prev}))
      prev = createHash('sha256').update(covered).digest('hex')
      return `${covered.slice(0, -1)},"hash":"${prev}"}\n`
    })
    .join('')
}

describe('the issuance log', () => {
  const folder = useTemporaryFolder()
  const path = () => join(folder(), 'issuance.log')
  const text = () => readFile(path(), 'utf8')
  const logs: FileIssuanceLog[] = []
  const open = () => {
    const log = new FileIssuanceLog(path(), fixedClock())
    logs.push(log)
    return log
  }
  const write = async (...names: string[]) => {
    const log = open()
    for (const name of names) await log.append(issuance(name))
    await log.close()
  }
  const entries = async () => {
    const found: LogEntry[] = []
    const summary = await readLog(path(), {onEntry: (entry) => found.push(entry)})
    return {found, ...summary}
  }
  const said = async () =>
    (await entries()).found.map((entry) => ('request' in entry ? entry.request : entry.decision))

  beforeEach(() => (logs.length = 0))
  afterEach(async () => {
    mock.restoreAll()
    for (const log of logs) await log.close()
  })

  it('returns from a write only when the line is on the disk', async function () {
    if (process.platform !== 'linux') return this.skip()
    await open().append(issuance('one'))
    for (const fd of await readdir('/proc/self/fd')) {
      if ((await readlink(`/proc/self/fd/${fd}`).catch(() => '')) !== path()) continue
      const [, flags = ''] =
        /^flags:\s*(\d+)/m.exec(await readFile(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? []
      assert.equal(parseInt(flags, 8) & constants.O_DSYNC, constants.O_DSYNC)
      return
    }
    assert.fail('the log is not open')
  })

  it('is one JSON object a line, each with the hash of the one before', async () => {
    await write('a', 'b')
    const [first = '', second = '', ...rest] = (await text()).split('\n')
    assert.deepEqual(rest, [''])
    const {hash, ...covered} = JSON.parse(first) as LogEntry
    assert.equal(createHash('sha256').update(JSON.stringify(covered)).digest('hex'), hash)
    assert.equal(covered.prev, '0'.repeat(64))
    assert.equal(covered.time, NOW.toISOString())
    assert.equal((JSON.parse(second) as LogEntry).prev, hash)
  })

  it('has a line on the disk when an append is done', async () => {
    const log = open()
    await log.append(issuance('a'))
    assert.match(await text(), /"request":"a"/)
  })

  it('writes lines that arrive together in their order, in one chain', async () => {
    const log = open()
    const names = Array.from({length: 500}, (_, index) => `r${index}`)
    await Promise.all(names.map((name) => log.append(issuance(name))))
    assert.deepEqual(await said(), names)
  })

  it('goes on with the chain after a restart', async () => {
    await write('a')
    await write('b')
    assert.deepEqual(await said(), ['a', 'b'])
  })

  it('finds its end where the last line is a long one', async () => {
    await write('x'.repeat(300_000))
    await write('b')
    assert.equal((await said()).length, 2)
  })

  it('is for its owner only, also where it was not', async () => {
    await write('a')
    await chmod(path(), 0o644)
    await write('b')
    assert.equal((await lstat(path())).mode & 0o777, 0o600)
  })

  for (const [name, torn] of [
    ['half a line', '{"time":"2026'],
    ['a line without its end', '{"time":"2026","hash":"0"}'],
    ['a block of zeros', '\0'.repeat(4096)],
  ] as const) {
    it(`cuts off ${name} that a crash has left, and says so`, async () => {
      await write('a')
      const before = await text()
      await appendFile(path(), torn)
      await write('b')
      assert.ok((await text()).startsWith(before))
      assert.deepEqual(await said(), ['a', 'recovered', 'b'])
    })
  }

  it('notes what was cut off at the start, before anything is signed', async () => {
    await write('a')
    await appendFile(path(), 'torn')
    await open().check()
    const [, recovered] = (await entries()).found
    assert.match(recovered?.reason ?? '', /^4 bytes/)
  })

  it('begins anew where a crash cut the very first line', async () => {
    await writeFile(path(), '{"time"', {mode: 0o600})
    await write('a')
    assert.deepEqual(await said(), ['recovered', 'a'])
  })

  it('adds nothing behind whole lines that it did not write', async () => {
    await write('a')
    await appendFile(path(), 'somebody was here\n')
    const before = await text()
    await assert.rejects(open().append(issuance('b')), {code: 'ISSUANCE_LOG_BROKEN'})
    assert.equal(await text(), before)
  })

  it('begins a new file where the old one was moved away', async () => {
    const log = open()
    await log.append(issuance('a'))
    const {head} = await entries()
    await rename(path(), `${path()}.old`)
    await log.append(issuance('b'))
    assert.deepEqual(await said(), ['began', 'b'])
    assert.ok((await entries()).found[0]?.reason?.includes(head))
  })

  it('goes on behind what another process has written', async () => {
    const log = open()
    await log.append(issuance('a'))
    await write('b')
    await log.append(issuance('c'))
    assert.deepEqual(await said(), ['a', 'b', 'c'])
  })

  it('counts on no line where another process wrote at the same time', async () => {
    const [one, other] = [open(), open()]
    await one.append(issuance('a'))
    await other.check()
    const outcomes = await Promise.allSettled([
      one.append(issuance('b')),
      other.append(issuance('c')),
    ])
    const refused = outcomes.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as unknown] : [],
    )
    for (const reason of refused) assert.equal((reason as {code: string}).code, 'CONFLICT')
    // Where one came after the other, all is well.
    if (refused.length === 0) assert.deepEqual((await said()).sort(), ['a', 'b', 'c'])
  })

  it('cuts nothing off that another process is still writing', async () => {
    await write('a', 'b')
    const whole = await text()
    await truncate(path(), whole.length - 10)
    // The other one goes on while the log waits for it.
    const goesOn = (then: () => void) => void appendFile(path(), whole.slice(-10)).then(then)
    const wait = mock.method(globalThis, 'setTimeout', goesOn as unknown as typeof setTimeout, {
      times: 1,
    })
    await open().check()
    assert.equal(wait.mock.callCount(), 1)
    assert.equal(await text(), whole)
  })

  it('is not written through a link', async () => {
    await writeFile(join(folder(), 'target'), '')
    await symlink(join(folder(), 'target'), path())
    await assert.rejects(open().append(issuance('a')), {code: 'FILE_UNSAFE'})
    assert.equal(await readFile(join(folder(), 'target'), 'utf8'), '')
  })

  it('refuses lines once it is closed', async () => {
    const log = open()
    await log.close()
    await assert.rejects(log.append(issuance('a')), {code: 'FILE_UNWRITABLE'})
  })

  describe('that somebody touches while it is in use', () => {
    const BROKEN = {code: 'ISSUANCE_LOG_BROKEN', message: /put back, or moved away/}
    const lines = async () => (await text()).split('\n').slice(0, -1)
    const put = (content: string) => writeFile(path(), content)
    const attacks: [string, () => Promise<void>][] = [
      [
        'has lines cut off its end',
        async () => truncate(path(), Buffer.byteLength((await lines())[0] ?? '') + 1),
      ],
      ['is emptied', () => truncate(path(), 0)],
      [
        'is cut in the middle of a line',
        async () => truncate(path(), Buffer.byteLength(await text()) - 20),
      ],
      [
        'has a line changed in its place, of the same length',
        async () => put((await text()).replace('"request":"a"', '"request":"X"')),
      ],
      [
        'is replaced by a file with fewer lines',
        async () => {
          const [first = ''] = await lines()
          await writeFile(`${path()}.copy`, `${first}\n`, {mode: 0o600})
          await rename(`${path()}.copy`, path())
        },
      ],
      [
        'is rewritten as a whole, with hashes that fit',
        async () => put(rewritten(await lines(), (said) => said.replace('ada', 'eve'))),
      ],
    ]
    for (const [name, attack] of attacks) {
      it(`takes no more lines where it ${name}, and is left as it is`, async () => {
        const log = open()
        for (const request of ['a', 'b', 'c']) await log.append(issuance(request))
        await attack()
        const before = await text()
        await assert.rejects(log.append(issuance('d')), BROKEN)
        await assert.rejects(log.check(), BROKEN)
        assert.equal(await text(), before)
      })
    }

    it('goes on once it was put back', async () => {
      const log = open()
      await log.append(issuance('a'))
      const good = await text()
      await truncate(path(), 0)
      await assert.rejects(log.check(), BROKEN)
      await put(good)
      await log.append(issuance('b'))
      assert.deepEqual(await said(), ['a', 'b'])
    })

    it('goes on where only its mode was changed', async () => {
      const log = open()
      await log.append(issuance('a'))
      await chmod(path(), 0o640)
      await log.append(issuance('b'))
      assert.deepEqual(await said(), ['a', 'b'])
    })
  })

  describe('and its key', () => {
    const keyPath = () => `${path()}.key`
    const key = () => readLogKey(keyPath())
    const verify = async () => readLog(path(), {key: await key()})
    const lines = async () => (await text()).split('\n').slice(0, -1)
    /** As an earlier version wrote it. */
    const writeOld = async (...names: string[]) => {
      let prev = '0'.repeat(64)
      let content = ''
      for (const name of names) {
        const covered = JSON.stringify({time: NOW.toISOString(), ...issuance(name), prev})
        prev = createHash('sha256').update(covered).digest('hex')
        content += `${covered.slice(0, -1)},"hash":"${prev}"}\n`
      }
      await writeFile(path(), content, {mode: 0o600})
    }

    it('is for its owner only, and stays through restarts', async () => {
      await write('a')
      const first = await key()
      assert.equal((await lstat(keyPath())).mode & 0o777, 0o600)
      await write('b')
      assert.deepEqual(await key(), first)
      assert.equal((await verify()).count, 2)
    })

    it('shows a rewrite of the whole log by somebody who does not have it', async () => {
      await write('a', 'b')
      await writeFile(
        path(),
        rewritten(await lines(), (said) => said.replace('ada', 'eve')),
      )
      await readLog(path())
      await assert.rejects(verify(), {code: 'ISSUANCE_LOG_BROKEN', message: /^line 1 of .*the key/})
      await assert.rejects(open().check(), {code: 'ISSUANCE_LOG_BROKEN'})
    })

    it('shows a rewrite in the form of an earlier version', async () => {
      await write('a', 'b')
      await writeOld('x', 'y')
      await assert.rejects(verify(), {code: 'ISSUANCE_LOG_BROKEN', message: /not authenticated/})
      await assert.rejects(open().check(), {code: 'ISSUANCE_LOG_BROKEN'})
    })

    it('is taken up by a log of an earlier version, whose lines then stand too', async () => {
      await writeOld('a', 'b')
      await write('c')
      assert.deepEqual(await said(), ['a', 'b', 'keyed', 'c'])
      await verify()
      const [, second = '', ...rest] = await lines()
      await writeFile(path(), [second, ...rest].map((line) => `${line}\n`).join(''))
      await assert.rejects(verify(), {code: 'ISSUANCE_LOG_BROKEN'})
    })

    it('lets nobody put lines without it behind those that have it', async () => {
      await writeOld('a')
      await write('b')
      const all = await lines()
      const {hash: prev} = JSON.parse(all.at(-1) ?? '') as LogEntry
      const covered = JSON.stringify({time: NOW.toISOString(), ...issuance('x'), prev})
      const hash = createHash('sha256').update(covered).digest('hex')
      await appendFile(path(), `${covered.slice(0, -1)},"hash":"${hash}"}\n`)
      await readLog(path())
      await assert.rejects(verify(), {code: 'ISSUANCE_LOG_BROKEN', message: /not authenticated/})
      await assert.rejects(open().check(), {code: 'ISSUANCE_LOG_BROKEN'})
    })

    for (const [when, content] of [
      ['before', false],
      ['after', true],
    ] as const) {
      it(`is found again by a process that was killed ${when} the first line with it was written`, async () => {
        await writeOld('a')
        const old = await text()
        await write('b')
        await rename(keyPath(), `${keyPath()}.new`)
        if (!content) await writeFile(path(), old)
        await write('c')
        assert.deepEqual((await said()).at(-1), 'c')
        await verify()
      })
    }

    it('that is none is refused', async () => {
      await writeFile(keyPath(), 'abc', {mode: 0o600})
      await assert.rejects(open().append(issuance('a')), {code: 'KEY_INVALID'})
    })
  })

  describe('when it is checked', () => {
    beforeEach(() => write('a', 'b', 'c', 'd'))
    const change = async (edit: (lines: string[]) => string[]) => {
      const lines = (await text()).split('\n').slice(0, -1)
      await writeFile(
        path(),
        edit(lines)
          .map((line) => `${line}\n`)
          .join(''),
      )
    }
    const brokenAt = (line: number) => ({
      code: 'ISSUANCE_LOG_BROKEN',
      message: new RegExp(`^line ${line} of `),
    })

    it('is unbroken, with the hash of its last line', async () => {
      const {found, count, head, torn} = await entries()
      assert.equal(count, 4)
      assert.equal(head, found.at(-1)?.hash)
      assert.equal(torn, 0)
    })

    it('shows a line that was changed', async () => {
      await change((lines) => lines.map((line) => line.replace('"request":"b"', '"request":"B"')))
      await assert.rejects(readLog(path()), brokenAt(2))
    })

    it('shows a line that was changed and given a hash that fits', async () => {
      await change((lines) =>
        lines.map((line) => {
          const {hash: _hash, ...covered} = JSON.parse(line) as LogEntry
          if (!line.includes('"request":"b"')) return line
          const changed = JSON.stringify({...covered, request: 'B'})
          const hash = createHash('sha256').update(changed).digest('hex')
          return `${changed.slice(0, -1)},"hash":"${hash}"}`
        }),
      )
      await assert.rejects(readLog(path()), brokenAt(3))
    })

    it('shows lines that were removed, moved or added', async () => {
      const lines = (await text()).split('\n').slice(0, -1)
      const [a = '', b = '', c = '', d = ''] = lines
      for (const [order, line] of [
        [[a, c, d], 2],
        [[b, c, d], 1],
        [[a, c, b, d], 2],
        [[a, b, b, c, d], 3],
        [[a, '', b, c, d], 2],
      ] as const) {
        await change(() => [...order])
        await assert.rejects(readLog(path()), brokenAt(line))
      }
    })

    it('shows that its end was cut off, where its head is known', async () => {
      const {head} = await entries()
      await readLog(path(), {expectedHead: head})
      await change((lines) => lines.slice(0, -1))
      await readLog(path())
      await assert.rejects(readLog(path(), {expectedHead: head}), {
        code: 'ISSUANCE_LOG_BROKEN',
        message: /^no line of /,
      })
    })

    it('holds a head of long ago', async () => {
      const {found} = await entries()
      await readLog(path(), {expectedHead: found[1]?.hash})
    })

    it('is not broken by a line that is being written', async () => {
      await truncate(path(), Buffer.byteLength(await text()) - 5)
      const {count, torn} = await entries()
      assert.equal(count, 3)
      assert.ok(torn > 0)
    })
  })
})
