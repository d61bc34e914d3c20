import assert from 'node:assert/strict'
import {rename, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import {MOST_BEFORE, beginningWith, continues} from '../../../src/controllers/signing/log-heads.ts'
import {encodeLine} from '../../../src/controllers/signing/log-line.ts'
import {checkFound} from '../../../src/controllers/signing/log-tail.ts'
import type {SealedHead} from '../../../src/csr/log-head.ts'
import {fixedClock, useTemporaryFolder} from '../../pki/support.ts'

const KEY = Buffer.alloc(32)
const NONE = '0'.repeat(64)
const headAt = (index: number) => ({
  chain: index.toString(16).padStart(64, '0'),
  size: 9,
  hash: 'f'.repeat(64),
})
const heads = (count: number) => Array.from({length: count}, (_, index) => headAt(index + 1))

describe('an issuance log that is moved away again and again', () => {
  const folder = useTemporaryFolder()
  const path = () => join(folder(), 'issuance.log')

  it('causes no alarm for lines of the first one', async () => {
    const log = new FileIssuanceLog(path(), fixedClock())
    let first: SealedHead | undefined
    try {
      for (let index = 0; index < 20; index++) {
        await log.note({decision: 'keyed', reason: `${index}`})
        first ??= log.sealedHead
        await rename(path(), join(folder(), `${index}.log`))
      }
      assert.ok(first)
      assert.equal(await log.verdictOn(first), 'recorded')
    } finally {
      await log.close()
    }
  })

  it('names the newest of those before it, and no more than a line has room for', async () => {
    const [note] = await checkFound(
      path(),
      {hash: NONE, line: undefined, size: 0, torn: 0, inode: 2n},
      {
        seen: {hash: 'e'.repeat(64), inode: 1n, head: headAt(0), predecessors: heads(MOST_BEFORE)},
        key: KEY,
        isNew: false,
      },
    )
    assert.ok(note)
    assert.deepEqual(note.heads, [headAt(0), ...heads(MOST_BEFORE - 1)])
    const {line} = encodeLine(new Date(0), note, NONE, KEY)
    assert.ok(line.length < 64 * 1024)
    assert.equal(beginningWith(line.trimEnd()).predecessors.length, MOST_BEFORE)
  })

  for (const [count, chain, expected] of [
    [2, 1, true],
    [2, 500, false],
    [MOST_BEFORE, 1, true],
    [MOST_BEFORE, 500, undefined],
  ] as const) {
    it(`after ${count}, says ${expected} for log ${chain}`, async () => {
      const note = {decision: 'began', reason: 'r', heads: heads(count)} as const
      await writeFile(path(), encodeLine(new Date(0), note, NONE, KEY).line)
      assert.equal(await continues(path(), headAt(chain).chain), expected)
    })
  }
})
