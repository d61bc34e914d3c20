import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  scrypt,
  type BinaryLike,
  type ScryptOptions,
} from 'node:crypto'
import {promisify} from 'node:util'
import {TrustError} from '../../errors.ts'
import {invalidArchive, type Append} from '../../storage/archive-frames.ts'

/**
 * An encrypted archive: the magic, a salt and the first bytes of all nonces, then pieces of 64 KiB, each encrypted and authenticated by
 * AES-256-GCM. A nonce ends with the number of its piece and a mark of the last one, so that pieces cannot be left out, exchanged or
 * cut off. The key comes from a passphrase by scrypt.
 */
export const SEALED_MAGIC = Buffer.from('TRUSTADM-SEALED-1\n')
const CIPHER = 'aes-256-gcm'
const SALT = 16
const PREFIX = 7
const HEAD = SEALED_MAGIC.length + SALT + PREFIX
const PIECE = 65_536
const TAG = 16
/** 128 MiB and a good part of a second for each guess. */
const COST = {N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20}

type Derive = (
  passphrase: BinaryLike,
  salt: BinaryLike,
  length: number,
  options: ScryptOptions,
) => Promise<Buffer>
const derive = promisify(scrypt) as Derive

function nonceOf(prefix: Buffer, piece: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(PREFIX + 5)
  prefix.copy(nonce)
  nonce.writeUInt32BE(piece, PREFIX)
  nonce.writeUInt8(isLast ? 1 : 0, PREFIX + 4)
  return nonce
}

/** Collects what is appended into pieces of one size; `end` hands out the last one, which may be shorter. */
function pieces(each: (piece: Buffer, isLast: boolean) => Promise<void>, size: number) {
  let waiting: Buffer = Buffer.alloc(0)
  return {
    async add(bytes: Uint8Array) {
      waiting = Buffer.concat([waiting, bytes])
      let start = 0
      // One piece stays behind: it may be the last.
      for (; waiting.length - start > size; start += size) {
        await each(waiting.subarray(start, start + size), false)
      }
      waiting = waiting.subarray(start)
    },
    end: () => each(waiting, true),
  }
}

/** Lets `write` append plain bytes, and appends them encrypted. `cost` is that of a guess of the passphrase. */
export async function seal<Result>(
  passphrase: Buffer,
  append: Append,
  write: (append: Append) => Promise<Result>,
  cost: ScryptOptions = COST,
): Promise<Result> {
  const [salt, prefix] = [randomBytes(SALT), randomBytes(PREFIX)]
  const head = Buffer.concat([SEALED_MAGIC, salt, prefix])
  const key = await derive(passphrase, salt, 32, cost)
  await append(head)
  let count = 0
  const {add, end} = pieces(async (piece, isLast) => {
    const cipher = createCipheriv(CIPHER, key, nonceOf(prefix, count++, isLast)).setAAD(head)
    const sealed = Buffer.concat([cipher.update(piece), cipher.final()])
    await append(Buffer.concat([sealed, cipher.getAuthTag()]))
  }, PIECE)
  const result = await write(add)
  await end()
  return result
}

const refused = (cause: unknown): TrustError =>
  new TrustError('BACKUP_INVALID', 'the passphrase is wrong, or the backup was altered', {
    cause,
    hints: ['nothing was changed: check --passphrase-file, or use another copy of the file'],
  })

/** The plain bytes of an encrypted archive. None is handed out that was altered. */
export async function* unseal(
  passphrase: Buffer,
  source: AsyncIterable<Buffer>,
  cost: ScryptOptions = COST,
): AsyncGenerator<Buffer> {
  let waiting: Buffer = Buffer.alloc(0)
  let opened: {key: Buffer; head: Buffer} | undefined
  let count = 0
  const open = (piece: Buffer, isLast: boolean): Buffer => {
    if (!opened || piece.length < TAG) throw invalidArchive('it ends early')
    const {key, head} = opened
    const nonce = nonceOf(head.subarray(HEAD - PREFIX), count++, isLast)
    const cipher = createDecipheriv(CIPHER, key, nonce, {authTagLength: TAG}).setAAD(head)
    cipher.setAuthTag(piece.subarray(-TAG))
    try {
      return Buffer.concat([cipher.update(piece.subarray(0, -TAG)), cipher.final()])
    } catch (error) {
      throw refused(error)
    }
  }
  for await (const chunk of source) {
    waiting = Buffer.concat([waiting, chunk])
    if (!opened && waiting.length >= HEAD) {
      const head = Buffer.from(waiting.subarray(0, HEAD))
      const salt = head.subarray(SEALED_MAGIC.length, SEALED_MAGIC.length + SALT)
      opened = {head, key: await derive(passphrase, salt, 32, cost)}
      waiting = waiting.subarray(HEAD)
    }
    while (opened && waiting.length > PIECE + TAG) {
      yield open(waiting.subarray(0, PIECE + TAG), false)
      waiting = waiting.subarray(PIECE + TAG)
    }
  }
  yield open(waiting, true)
}
