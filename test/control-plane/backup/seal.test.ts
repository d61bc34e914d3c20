import assert from 'node:assert/strict'
import {randomBytes, type ScryptOptions} from 'node:crypto'
import {seal, unseal} from '../../../src/control-plane/backup/seal.ts'

const PASSPHRASE = Buffer.from('correct horse battery')
const PIECE = 65_536 + 16
const HEAD = 41
/** What a guess of the passphrase costs matters to one test only. */
const CHEAP: ScryptOptions = {N: 2 ** 10}

async function sealed(plain: Buffer, cost?: ScryptOptions): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const keep = (bytes: Uint8Array) => Promise.resolve(void chunks.push(bytes))
  await seal(PASSPHRASE, keep, (append) => append(plain), cost)
  return Buffer.concat(chunks)
}

async function opened(
  bytes: Buffer,
  cost?: ScryptOptions,
  passphrase = PASSPHRASE,
): Promise<Buffer> {
  async function* source() {
    await Promise.resolve()
    for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
  }
  const chunks: Buffer[] = []
  for await (const chunk of unseal(passphrase, source(), cost)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('an encrypted archive', function () {
  this.timeout(60_000)

  for (const length of [0, 65_536, 200_000]) {
    it(`gives back ${length} bytes, and contains none of them`, async () => {
      const plain = randomBytes(length)
      const bytes = await sealed(plain, CHEAP)
      assert.ok((await opened(bytes, CHEAP)).equals(plain))
      if (length > 32) assert.equal(bytes.includes(plain.subarray(0, 32)), false)
    })
  }

  it('is refused if it was altered, cut off, or its pieces were exchanged', async () => {
    const bytes = await sealed(randomBytes(150_000), CHEAP)
    const [first, second] = [HEAD, HEAD + PIECE]
    const exchanged = Buffer.concat([
      bytes.subarray(0, first),
      bytes.subarray(second, second + PIECE),
      bytes.subarray(first, second),
      bytes.subarray(second + PIECE),
    ])
    const altered = Buffer.from(bytes)
    altered.writeUInt8(altered.readUInt8(second + 5) ^ 1, second + 5)
    const wrong = [
      exchanged,
      altered,
      bytes.subarray(0, second + PIECE),
      bytes.subarray(0, second),
      bytes.subarray(0, -1),
      bytes.subarray(0, HEAD),
      Buffer.concat([bytes, Buffer.alloc(16)]),
    ]
    for (const one of wrong) await assert.rejects(opened(one, CHEAP), {code: 'BACKUP_INVALID'})
  })

  it('is refused with another passphrase', async () => {
    const bytes = await sealed(Buffer.from('secret'), CHEAP)
    const another = Buffer.from('another')
    await assert.rejects(opened(bytes, CHEAP, another), {code: 'BACKUP_INVALID'})
  })

  it('is opened at the cost that it was sealed with, which is high unless another is chosen', async () => {
    const plain = Buffer.from('secret')
    const bytes = await sealed(plain)
    assert.ok((await opened(bytes)).equals(plain))
    await assert.rejects(opened(bytes, CHEAP), {code: 'BACKUP_INVALID'})
    const high = {N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20}
    assert.ok((await opened(bytes, high)).equals(plain))
  })
})
