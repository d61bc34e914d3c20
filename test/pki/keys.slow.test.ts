import assert from 'node:assert/strict'
import {checkPrimeSync, createPublicKey, generateKeyPairSync, generatePrimeSync} from 'node:crypto'
import {join} from 'node:path'
import {bitString, oid, sequence} from '../../src/pki/der-writer.ts'
import {requireStrongKey, weaknessOfModulus} from '../../src/pki/key-policy.ts'
import {
  KEY_ALGORITHMS,
  generateKeys,
  isPairOf,
  parsePrivateKey,
  parsePublicKeys,
  privateKeyPem,
  publicKeyFromDer,
  publicKeyPem,
} from '../../src/pki/keys.ts'
import {openssl, save, skipWithoutOpenssl, useTemporaryFolder} from './support.ts'

const toBase64Url = (value: bigint) => {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
}

const rsaKey = (n: bigint, e = 65_537n) =>
  createPublicKey({key: {kty: 'RSA', n: toBase64Url(n), e: toBase64Url(e)}, format: 'jwk'})

const prime = (bits: number) => generatePrimeSync(bits, {bigint: true})

describe('keys', function () {
  this.timeout(60_000)

  for (const algorithm of KEY_ALGORITHMS) {
    it(`makes ${algorithm} keys that come back from PEM and pass the policy`, async () => {
      const {privateKey, publicKey} = await generateKeys(algorithm)
      assert.match(privateKeyPem(privateKey), /^-----BEGIN PRIVATE KEY-----/)
      assert.ok(parsePrivateKey(privateKeyPem(privateKey)).equals(privateKey))
      assert.ok(parsePublicKeys(publicKeyPem(publicKey))[0]?.equals(publicKey))
      requireStrongKey(publicKey)
    })
  }

  it('makes P-256 keys where nothing is asked for', async () => {
    const {privateKey} = await generateKeys()
    assert.equal(privateKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  })

  it('tells the keys of one pair from those of two', async () => {
    const [one, other] = [await generateKeys(), await generateKeys()]
    assert.equal(isPairOf(one.privateKey, one.publicKey), true)
    assert.equal(isPairOf(one.privateKey, other.publicKey), false)
  })

  describe('made by openssl', () => {
    skipWithoutOpenssl()
    const folder = useTemporaryFolder()
    const file = () => join(folder(), 'key.pem')

    for (const [form, args] of [
      ['SEC1 with its parameters before it', ['ecparam', '-genkey', '-name', 'prime256v1']],
      ['PKCS#1', ['genrsa', '-traditional', '2048']],
      ['PKCS#8', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ] as const) {
      it(`reads ${form}`, async () => {
        const pem = await openssl(...args)
        assert.equal(parsePrivateKey(pem).type, 'private')
      })
    }

    for (const [form, args] of [
      ['PKCS#8', []],
      ['the traditional form', ['-traditional']],
    ] as const) {
      it(`says that a key is encrypted in ${form}`, async () => {
        await save(folder(), {'key.pem': await openssl('genrsa', '2048')})
        const pem = await openssl(
          'rsa',
          '-in',
          file(),
          '-aes128',
          '-passout',
          'pass:secret',
          ...args,
        )
        assert.throws(() => parsePrivateKey(pem), {code: 'KEY_INVALID', message: /encrypted/})
      })
    }
  })

  it('shows nothing of a private key that cannot be read', () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0c2VjcmV0\n-----END PRIVATE KEY-----\n'
    assert.throws(
      () => parsePrivateKey(pem),
      (error: Error) => !/secret|c2Vj/.test(error.message + String(error.cause)),
    )
  })

  it('refuses text without a key', () => {
    assert.throws(() => parsePrivateKey('no key'), {code: 'KEY_INVALID'})
    assert.throws(() => parsePublicKeys('no key'), {code: 'KEY_INVALID'})
  })
})

describe('key policy', function () {
  this.timeout(60_000)

  for (const [name, make] of [
    ['P-521', () => generateKeyPairSync('ec', {namedCurve: 'P-521'})],
    ['Ed25519', () => generateKeyPairSync('ed25519')],
  ] as const) {
    it(`accepts ${name}`, () => {
      requireStrongKey(make().publicKey)
    })
  }

  for (const [name, make, message] of [
    ['RSA with 1024 bits', () => rsaKey(prime(512) * prime(512)), /2048/],
    ['RSA with 2040 bits', () => rsaKey(prime(1020) * prime(1020)), /2048/],
    ['RSA with 2049 bits', () => rsaKey((prime(1024) * prime(1024)) | (1n << 2048n)), /2049/],
    ['RSA with exponent 3', () => rsaKey(prime(1024) * prime(1024), 3n), /exponent/],
    ['an even modulus', () => rsaKey((prime(1024) * prime(1024)) & ~1n), /small prime/],
    [
      'a modulus with a small factor',
      () => rsaKey((((1n << 2048n) - 1n) / 751n) * 751n),
      /small prime/,
    ],
    ['P-224', () => generateKeyPairSync('ec', {namedCurve: 'secp224r1'}).publicKey, /curve/],
    ['secp256k1', () => generateKeyPairSync('ec', {namedCurve: 'secp256k1'}).publicKey, /curve/],
    [
      'DSA',
      () => generateKeyPairSync('dsa', {modulusLength: 1024, divisorLength: 160}).publicKey,
      /not RSA/,
    ],
    ['X25519', () => generateKeyPairSync('x25519').publicKey, /not RSA/],
  ] as const) {
    it(`refuses ${name}`, () => {
      assert.throws(() => requireStrongKey(make()), {code: 'KEY_INVALID', message})
    })
  }

  it('refuses primes that are close to each other', () => {
    const first = prime(1024)
    let second = first + 2n
    while (!checkPrimeSync(second)) second += 2n
    assert.match(weaknessOfModulus(first * second) ?? '', /close/)
  })

  it('refuses moduli of the ROCA kind', () => {
    const primes = [
      3n,
      5n,
      7n,
      11n,
      13n,
      17n,
      19n,
      23n,
      29n,
      31n,
      37n,
      41n,
      43n,
      47n,
      53n,
      59n,
      61n,
      67n,
      71n,
    ]
    const more = [
      73n,
      79n,
      83n,
      89n,
      97n,
      101n,
      103n,
      107n,
      109n,
      113n,
      127n,
      131n,
      137n,
      139n,
      149n,
      151n,
    ]
    const product = [...primes, ...more, 157n, 163n, 167n].reduce((all, one) => all * one, 1n)
    const candidates = Array.from({length: 200}, (_, index) =>
      weaknessOfModulus(
        ((1n << 2047n) / product) * product + product * BigInt(index) + 65_537n ** 3n,
      ),
    )
    assert.ok(candidates.some((weakness) => weakness?.includes('ROCA')))
  })

  it('finds nothing wrong with honest moduli', () => {
    assert.equal(weaknessOfModulus(prime(1024) * prime(1024)), undefined)
  })

  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    it(`reads the DER of a key on ${namedCurve}`, () => {
      const {publicKey} = generateKeyPairSync('ec', {namedCurve})
      const der = publicKey.export({format: 'der', type: 'spki'})
      const read = publicKeyFromDer(der)
      assert.ok(read.equals(publicKey))
      assert.deepEqual(read.export({format: 'der', type: 'spki'}), der)
      assert.deepEqual(read.asymmetricKeyDetails, publicKey.asymmetricKeyDetails)
    })
  }

  const P256 = sequence(oid('1.2.840.10045.2.1'), oid('1.2.840.10045.3.1.7'))
  for (const [name, point] of [
    ['at infinity', Buffer.alloc(1)],
    ['that is compressed', Buffer.alloc(33, 2)],
    ['with a coordinate too few', Buffer.alloc(33, 4)],
    ['with a byte too many', Buffer.alloc(66, 4)],
    ['of nothing', Buffer.alloc(0)],
  ] as const) {
    it(`does not let OpenSSL see a point ${name}, which may end the process`, () => {
      assert.throws(() => publicKeyFromDer(sequence(P256, bitString(point))), {
        code: 'KEY_INVALID',
        message: /two coordinates/,
      })
    })
  }

  for (const [name, kind] of [
    ['on the curve SM2', sequence(oid('1.2.840.10045.2.1'), oid('1.2.156.10197.1.301'))],
    ['on P-224', sequence(oid('1.2.840.10045.2.1'), oid('1.3.132.0.33'))],
    ['on a curve of its own', sequence(oid('1.2.840.10045.2.1'), sequence())],
    ['for RSA-PSS', sequence(oid('1.2.840.113549.1.1.10'))],
    ['for DSA', sequence(oid('1.2.840.10040.4.1'))],
    ['for Ed448', sequence(oid('1.3.101.113'))],
    ['of no kind', sequence()],
  ] as const) {
    it(`does not let OpenSSL see a key ${name}`, () => {
      const point = Buffer.alloc(65, 4)
      assert.throws(() => publicKeyFromDer(sequence(kind, bitString(point))), {
        code: 'KEY_INVALID',
        message: /not RSA|not P-256|malformed/,
      })
    })
  }

  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    it(`refuses coordinates on ${namedCurve} that are no point, or larger than the field`, () => {
      const {publicKey} = generateKeyPairSync('ec', {namedCurve})
      const der = publicKey.export({format: 'der', type: 'spki'})
      const half = namedCurve === 'P-256' ? 32 : namedCurve === 'P-384' ? 48 : 66
      for (const fill of [0, 1, 0xff]) {
        const x = Buffer.from(der).fill(fill, der.length - 2 * half, der.length - half)
        const y = Buffer.from(der).fill(fill, der.length - half)
        const both = Buffer.from(der).fill(fill, der.length - 2 * half)
        for (const bad of [x, y, both])
          assert.throws(() => publicKeyFromDer(bad), {code: 'KEY_INVALID'})
      }
    })
  }

  it('refuses points off their curve', async () => {
    const {publicKey} = await generateKeys()
    const der = publicKey.export({format: 'der', type: 'spki'})
    der[der.length - 1] = (der[der.length - 1] ?? 0) ^ 1
    assert.throws(() => publicKeyFromDer(der), {code: 'KEY_INVALID'})
  })
})
