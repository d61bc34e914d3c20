import assert from 'node:assert/strict'
import {PAIRING_LIST, pairingWords, requestWords} from '../../src/csr/pairing-words.ts'
import {generateKeys, publicKeyDer} from '../../src/pki/keys.ts'
import {makeAuthority} from '../client/support/certificates.ts'

/** Whether one letter more, less or other makes one of the other. */
function isOneLetterApart(one: string, other: string): boolean {
  if (one.length === other.length) {
    return Array.from(one).filter((letter, index) => letter !== other[index]).length === 1
  }
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return Array.from(long).some((_, index) => long.slice(0, index) + long.slice(index + 1) === short)
}

describe('the list of pairing words', () => {
  it('has 2,048 different words, in the order of the alphabet', () => {
    assert.equal(PAIRING_LIST.length, 2048)
    assert.deepEqual(PAIRING_LIST, [...new Set(PAIRING_LIST)].sort())
  })

  it('has only short words, of plain letters', () => {
    for (const word of PAIRING_LIST) assert.match(word, /^[a-z]{4,7}$/)
  })

  it('has no two words that one letter tells apart, and none that begins another', () => {
    const known = new Set(PAIRING_LIST)
    for (const word of PAIRING_LIST) {
      for (let length = 4; length < word.length; length += 1) {
        assert.ok(!known.has(word.slice(0, length)), word)
      }
    }
    const near = PAIRING_LIST.flatMap((one, index) =>
      PAIRING_LIST.slice(index + 1)
        .filter((other) => Math.abs(one.length - other.length) <= 1 && isOneLetterApart(one, other))
        .map((other) => `${one} ${other}`),
    )
    assert.deepEqual(near, [])
  })
})

describe('pairing words', () => {
  let key: Buffer
  let real: string
  let other: string
  before(async () => {
    key = publicKeyDer((await generateKeys()).publicKey)
    real = (await makeAuthority('real')).pem
    other = (await makeAuthority('other')).pem
  })

  it('are four of the list, and always the same', async () => {
    const words = (await pairingWords(key, real)).split(' ')
    assert.equal(words.length, 4)
    for (const word of words) assert.ok(PAIRING_LIST.includes(word), word)
    assert.equal(await pairingWords(key, real), words.join(' '))
  })

  it('stay the same from version to version', async () => {
    // Machines and operators may have different versions.
    assert.equal(await pairingWords(Buffer.from('a key'), undefined), 'essay sojourn griffin steam')
  })

  it('are others for another key, another CA and no CA', async () => {
    const another = publicKeyDer((await generateKeys()).publicKey)
    const all = await Promise.all([
      pairingWords(key, real),
      pairingWords(another, real),
      pairingWords(key, other),
      pairingWords(key, undefined),
    ])
    assert.equal(new Set(all).size, 4)
  })

  it('are others where a false CA comes with the real one', async () => {
    const words = await pairingWords(key, real)
    assert.notEqual(await pairingWords(key, real + other), words)
  })

  it('do not depend on the order of the CAs, nor on how often each is there', async () => {
    const words = await pairingWords(key, real + other)
    assert.equal(await pairingWords(key, other + real + other), words)
  })

  it('are none for a request that cannot be read', async () => {
    const spec = {request: Buffer.from('no').toString('base64'), signerName: 'a/b'}
    assert.equal(await requestWords({spec}, real), undefined)
  })
})
