import assert from 'node:assert/strict'
import {readFile, rename, rm, truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {findHead} from '../../../src/controllers/signing/log-heads.ts'
import type {KnownHead, LogEntry} from '../../../src/controllers/signing/log-line.ts'
import {readHead} from '../../../src/controllers/signing/log-tail.ts'
import {readLog} from '../../../src/controllers/signing/read-log.ts'
import {parseSealed, type SealedHead} from '../../../src/csr/log-head.ts'
import {fixedClock, useTemporaryFolder} from '../../pki/support.ts'

const issuance = (request: string): Issuance => ({
  decision: 'issued',
  signer: 'example.com/one',
  request,
  uid: 'u',
  requester: 'ada',
  subject: `CN=${request}`,
  names: {dns: [], ips: [], emails: [], uris: []},
})

describe('the head of an issuance log', () => {
  const folder = useTemporaryFolder()
  const path = () => join(folder(), 'issuance.log')
  const open: FileIssuanceLog[] = []
  const logAt = (file = path()) => {
    const log = new FileIssuanceLog(file, fixedClock())
    open.push(log)
    return log
  }
  afterEach(async () => {
    for (const log of open.splice(0)) await log.close()
  })
  const append = async (log: FileIssuanceLog, ...names: string[]): Promise<SealedHead> => {
    let head: string | undefined
    for (const name of names) head = await log.append(issuance(name))
    const parsed = parseSealed(head)
    assert.ok(parsed)
    return parsed
  }
  const linesOf = async (file = path()) => {
    const lines: LogEntry[] = []
    await readLog(file, {onEntry: (entry) => lines.push(entry)})
    return lines
  }
  const headsIn = (entry: LogEntry | undefined) =>
    entry && 'heads' in entry ? (entry.heads ?? []) : []

  it('names the log, the place and the hash of the last line', async () => {
    const head = await append(logAt(), 'a', 'b')
    const lines = await linesOf()
    const {length} = await readFile(path())
    const {seal: _seal, ...plain} = head
    assert.deepEqual(plain, {chain: lines[0]?.hash, size: length, hash: lines[1]?.hash})
    assert.deepEqual(await readHead(path()), plain)
  })

  it('is found however many lines follow, and however long its own is', async () => {
    const log = logAt()
    const first = await append(log, 'a')
    const long = await append(log, 'x'.repeat(300_000))
    await append(log, 'b')
    assert.equal(await findHead(path(), first), 'there')
    assert.equal(await findHead(path(), long), 'there')
    assert.equal(await log.verdictOn(first), 'there')
  })

  it('is missed where lines were cut off, also after others took their place', async () => {
    const before = logAt()
    const {size} = await append(before, 'a')
    const head = await append(before, 'b')
    await before.close()
    await truncate(path(), size)
    assert.equal(await findHead(path(), head), 'cut')
    const after = logAt()
    assert.equal(await after.verdictOn(head), 'lost')
    await append(after, 'somebody-else', 'c')
    assert.equal(await findHead(path(), head), 'changed')
    assert.equal(await after.verdictOn(head), 'lost')
  })

  it('is missed in a log that was cut off or emptied while its signer ran', async () => {
    const log = logAt()
    const {size} = await append(log, 'a')
    const head = await append(log, 'b')
    await truncate(path(), size)
    assert.equal(await log.verdictOn(head), 'lost')
    await assert.rejects(log.check(), {code: 'ISSUANCE_LOG_BROKEN'})
    await truncate(path(), 0)
    assert.equal(await log.verdictOn(head), 'replaced')
  })

  it('is not believed without the seal of the log', async () => {
    const log = logAt()
    const head = await append(log, 'a')
    const hash = 'f'.repeat(64)
    assert.equal(await log.verdictOn({...head, hash}), 'unknown')
    assert.equal(await log.verdictOn({...head, size: 1}), 'unknown')
    const other = await append(logAt(join(folder(), 'other.log')), 'a')
    assert.equal(await log.verdictOn(other), 'unknown')
  })

  it('is known of logs that were moved away while the signer ran, however often', async () => {
    const log = logAt()
    const first = await append(log, 'a')
    await rename(path(), join(folder(), 'first.log'))
    assert.equal(await log.verdictOn(first), 'recorded')
    const second = await append(log, 'b')
    await rename(path(), join(folder(), 'second.log'))
    await append(log, 'c')
    assert.equal(await log.verdictOn(first), 'recorded')
    assert.equal(await log.verdictOn(second), 'recorded')
    const [began] = await linesOf()
    assert.equal(began?.decision, 'began')
    assert.deepEqual(
      headsIn(began).map(({hash}) => hash),
      [(await linesOf(join(folder(), 'second.log'))).at(-1)?.hash, first.hash],
    )
  })

  it('shows that the whole log was replaced while no signer ran', async () => {
    const before = logAt()
    const head = await append(before, 'a')
    await before.close()
    await rename(path(), join(folder(), 'hidden.log'))
    const after = logAt()
    await append(after, 'b')
    assert.equal(await after.verdictOn(head), 'replaced')
  })

  describe('when a signer takes over', () => {
    const others: KnownHead = {chain: 'a'.repeat(64), size: 7, hash: 'b'.repeat(64), server: 'two'}
    const lost: KnownHead[] = []
    const onLost = (head: KnownHead) => void lost.push(head)
    beforeEach(() => (lost.length = 0))

    it('is noted of the other logs before its first line, and once', async () => {
      const log = logAt()
      log.takeOver([others], onLost)
      const own = await append(log, 'a')
      await append(log, 'b')
      const lines = await linesOf()
      assert.deepEqual(
        lines.map(({decision}) => decision),
        ['took-over', 'issued', 'issued'],
      )
      assert.deepEqual(headsIn(lines[0]), [others])
      log.takeOver([own], onLost)
      await append(log, 'c')
      assert.equal((await linesOf()).length, 4)
      assert.deepEqual(lost, [])
    })

    it('is noted as lost if it was of this log and is gone', async () => {
      const before = logAt()
      const {size} = await append(before, 'a')
      const {seal: _seal, ...head} = await append(before, 'b')
      await before.close()
      await truncate(path(), size)
      const after = logAt()
      after.takeOver([head, others], onLost)
      await append(after, 'c')
      const [, note, takeover] = await linesOf()
      assert.deepEqual([note?.decision, takeover?.decision], ['lost', 'took-over'])
      assert.deepEqual(headsIn(note), [head])
      assert.deepEqual(lost, [head])
    })

    it('is noted as lost, once, if the whole log was deleted while no signer ran', async () => {
      const before = logAt()
      const head = await append(before, 'a')
      await before.close()
      await rm(path())
      const known = [{...head, server: 'one'}, others]
      const after = logAt()
      after.takeOver(known, onLost)
      await append(after, 'b')
      const {seal: _seal, ...plain} = head
      assert.deepEqual(lost, [{...plain, server: 'one'}])
      const [note, takeover] = await linesOf()
      assert.deepEqual([note?.decision, takeover?.decision], ['lost', 'took-over'])
      assert.deepEqual(headsIn(takeover), [others])
      assert.equal(await after.verdictOn(head), 'replaced')
      after.takeOver(known, onLost)
      await append(after, 'c')
      assert.equal(lost.length, 1)
    })

    it('does not count as moved away because a signer knew it when it took over', async () => {
      const before = logAt()
      const {seal, ...head} = await append(before, 'a')
      await before.close()
      await rm(path())
      const after = logAt()
      after.takeOver([{...head, server: 'one'}], onLost)
      await append(after, 'b')
      assert.equal(await after.verdictOn({...head, seal}), 'replaced')
    })

    it('is not missed of a log that was moved away while the signer ran', async () => {
      const log = logAt()
      const first = await append(log, 'a')
      await rename(path(), join(folder(), 'first.log'))
      log.takeOver([first], onLost)
      const second = await append(log, 'b')
      log.takeOver([second, first], onLost)
      await append(log, 'c')
      assert.deepEqual(lost, [])
    })

    it('is not missed of the log of a machine that had the same name', async () => {
      const other = await append(logAt(join(folder(), 'other.log')), 'a')
      const log = logAt()
      log.takeOver([{...other, server: 'one'}], onLost)
      await append(log, 'b')
      assert.deepEqual(lost, [])
    })

    for (const size of [-1, Number.NaN, Number.MAX_SAFE_INTEGER]) {
      it(`keeps nobody from signing, also if it ends at ${size}`, async () => {
        const log = logAt()
        const {seal: _seal, ...head} = await append(log, 'a')
        log.takeOver([{...head, size}, others], onLost)
        await append(log, 'b')
        assert.ok((await linesOf()).some(({decision}) => decision === 'took-over'))
      })
    }

    it('is still noted if the first try to write fails', async () => {
      const log = logAt()
      await append(log, 'a')
      log.takeOver([others], onLost)
      const text = await readFile(path(), 'utf8')
      await writeFile(path(), '')
      await assert.rejects(log.append(issuance('b')), {code: 'ISSUANCE_LOG_BROKEN'})
      await writeFile(path(), text)
      await append(log, 'b')
      assert.deepEqual(
        (await linesOf()).map(({decision}) => decision),
        ['issued', 'took-over', 'issued'],
      )
    })
  })
})
