import {scrypt} from 'node:crypto'
import type {CertificateSigningRequest} from '../api/certificates.ts'
import {parseBundle} from '../pki/bundle.ts'
import {pinOf} from '../pki/pins.ts'
import {PAIRING_LIST} from './pairing-list.ts'
import {parseSpecRequest} from './read-request.ts'

const WORDS = 4
const BITS_PER_WORD = 11
/**
 * Four words say 44 bits. Whoever wants a key of their own to have the words of another has to try about 2^44 keys, and this makes
 * each try cost 8 MiB and tens of milliseconds.
 */
const COST = {N: 2 ** 13, r: 8, p: 1}
const BYTES = 6
const PURPOSE = 'trustadm pairing words 1'

const slowHash = (secret: Uint8Array, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(secret, salt, BYTES, COST, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })

/**
 * The words by which two people recognize a request and the cluster, made from its key and from all CAs that its reader trusts for
 * the cluster. All of them count: a false server could send the real CA besides its own. Their order does not.
 */
export async function pairingWords(
  publicKeyDer: Uint8Array,
  ca: string | undefined,
): Promise<string> {
  const pins = ca === undefined ? [] : [...new Set(parseBundle(ca).map(pinOf))].sort()
  const hash = await slowHash(publicKeyDer, [PURPOSE, ...pins].join('\n'))
  const number = BigInt(`0x${hash.toString('hex')}`)
  const wordAt = (_: unknown, index: number) =>
    PAIRING_LIST[Number(BigInt.asUintN(BITS_PER_WORD, number >> BigInt(BITS_PER_WORD * index)))] ??
    ''
  return Array.from({length: WORDS}, wordAt).join(' ')
}

/** The words of a request; undefined if it cannot be read. */
export async function requestWords(
  {spec}: Pick<CertificateSigningRequest, 'spec'>,
  ca: string | undefined,
): Promise<string | undefined> {
  const verdict = parseSpecRequest(spec.request)
  return 'request' in verdict ? await pairingWords(verdict.request.publicKeyDer, ca) : undefined
}
