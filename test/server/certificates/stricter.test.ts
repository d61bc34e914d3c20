import assert from 'node:assert/strict'
import {generateKeyPairSync} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {TAG, element, oid, sequence, set} from '../../../src/pki/der-writer.ts'
import {OID} from '../../../src/pki/oids.ts'
import {verifyClientCertificate} from '../../../src/pki/client-identity.ts'
import {systemClock} from '../../../src/runtime.ts'
import {
  CLIENT_AUTH,
  Extension,
  make,
  makeAuthority,
  type Wish,
} from '../../pki/certificate-builder.ts'
import {SIGN, buildRequest} from '../../pki/request-builder.ts'
import {openssl, save, skipWithoutOpenssl, useTemporaryFolder} from '../../pki/support.ts'
import {CSRS, allow, csrObject, encoded, useServer} from './support.ts'
import {
  closePrimesModulus,
  modulusOf,
  rocaModulus,
  rsaKeyInfo,
  smallFactorModulus,
} from './weak-keys.ts'
import {rsaKeys} from '../../helpers/rsa-keys.ts'

const HEADING = '### Certificate requests and client certificates'

interface ClientWish {
  root?: Wish
  leaf?: Wish
  repeated?: number
}

/** What the lines of the list under the heading begin with. */
function publishedLines(): string[] {
  const text = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const section = text.slice(text.indexOf(HEADING) + HEADING.length).split(/\n##/)[0] ?? ''
  return Array.from(section.matchAll(/^- (.+?)(?:: .*)?$/gm), ([, line = '']) => line)
}

describe('what docs/security.md says to be stricter than Kubernetes', () => {
  const {api} = useServer()
  const folder = useTemporaryFolder()
  const p256 = generateKeyPairSync('ec', {namedCurve: 'P-256'})
  const rsa = rsaKeys()
  const withKey = (publicKeyInfo: Buffer) => buildRequest(p256, {publicKeyInfo})

  const refused = async (pem: string, why: RegExp) => {
    const {status, causes, text} = await api().post(CSRS, csrObject({request: encoded(pem)}))
    assert.equal(status, 422, text)
    assert.match(causes.join(), /^spec\.request: /)
    assert.match(causes.join(), why)
  }

  /** On a client certificate of a CA, shown so many times. */
  const verdict = async ({root = {}, leaf = {}, repeated = 1}: ClientWish) => {
    const now = systemClock.now()
    const valid = {
      notBefore: new Date(now.getTime() - 1000),
      notAfter: new Date(now.getTime() + 60_000),
    }
    const authority = await makeAuthority('root', {...valid, ...root})
    const made = await make({by: authority, extendedUsages: [CLIENT_AUTH], ...valid, ...leaf})
    const more = Array.from({length: repeated - 1}, () => made.der)
    const found = await verifyClientCertificate(made.der, more, [authority.certificate], now)
    return found.ok ? 'accepted' : found.reason
  }

  const proofs: Record<string, () => Promise<void>> = {
    'RSA keys of fewer than 2048 bits': async () => {
      for (const bits of [1024, 2040]) await refused(withKey(rsaKeyInfo(modulusOf(bits))), /2048/)
    },
    'RSA keys of more than 8192 bits': () =>
      refused(withKey(rsaKeyInfo((1n << 8200n) + 1n)), /at most 8192/),
    'RSA keys whose length is not a multiple of 8 bits': async () => {
      await refused(withKey(rsaKeyInfo((1n << 2048n) + 1n)), /2049 bits/)
      await refused(withKey(rsaKeyInfo((1n << 4096n) + 1n)), /4097 bits/)
    },
    'RSA exponents other than 65537': async () => {
      const modulus = modulusOf(2048)
      for (const exponent of [1n, 3n, 65_539n, 1n << 33n])
        await refused(withKey(rsaKeyInfo(modulus, exponent)), /exponent/)
    },
    'RSA moduli with a prime factor below 752': async () => {
      await refused(withKey(rsaKeyInfo(smallFactorModulus())), /small prime/)
      await refused(withKey(rsaKeyInfo(1n << 2047n)), /small prime/)
    },
    'RSA moduli whose two primes are close': () =>
      refused(withKey(rsaKeyInfo(closePrimesModulus())), /too close/),
    'RSA moduli of the ROCA kind': () => refused(withKey(rsaKeyInfo(rocaModulus())), /ROCA/),
    'ECDSA keys on P-224': () =>
      refused(buildRequest(generateKeyPairSync('ec', {namedCurve: 'secp224r1'})), /curve/),
    'signatures with SHA-1': async () => {
      await refused(buildRequest(rsa, {algorithm: SIGN.rsaSha1}), /weak or unknown/)
      await refused(buildRequest(p256, {algorithm: SIGN.ecdsaSha1}), /weak or unknown/)
    },
    'signatures by RSA-PSS': async () => {
      await save(folder(), {k: rsa.privateKey.export({format: 'pem', type: 'pkcs8'}) as string})
      const options = ['-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:32']
      const subject = ['-subj', '/CN=x', '-key', `${folder()}/k`, '-sha256']
      await refused(await openssl('req', '-new', ...subject, ...options), /weak or unknown/)
    },
    'names in the subject that are not text': async () => {
      const subject = [{oid: OID.commonName, value: '\x01', tag: TAG.integer}]
      await refused(buildRequest(p256, {subject}), /not text/)
    },
    'attributes that cannot be read': async () => {
      const empty = sequence(oid(OID.extensionRequest), set())
      await refused(buildRequest(p256, {attributes: [empty]}), /cut short/)
      await refused(buildRequest(p256, {attributes: [element(TAG.null)]}), /tag/)
    },
    'more requests of one requester than [the limits](operations.md#limits) allow': async () => {
      await allow(api(), 'flood', 'flood', {
        verbs: ['create'],
        resources: ['certificatesigningrequests'],
      })
      const request = encoded(buildRequest(p256))
      const ask = async () =>
        (await api().post(CSRS, csrObject({request}), {as: {user: 'flood'}})).status
      for (let count = 0; count < 500; count += 1) assert.equal(await ask(), 201)
      assert.equal(await ask(), 429)
    },
    'certificate requests of another version than 0': async () => {
      for (const version of [1, 2]) await refused(buildRequest(p256, {version}), /version/)
    },
    'client certificates with critical CRL distribution points': async () => {
      const points = new Extension('2.5.29.31', true, Buffer.from('3000', 'hex'))
      assert.match(await verdict({leaf: {extensions: [points]}}), /2\.5\.29\.31/)
    },
    'more than 8 certificates shown by one client': async () => {
      assert.match(await verdict({repeated: 9}), /more than 8/)
      assert.equal(await verdict({repeated: 8}), 'accepted')
    },
    'client certificates below a CA with name constraints': async () => {
      const constraints = new Extension(OID.nameConstraints, true, Buffer.from('3000', 'hex'))
      assert.match(await verdict({root: {extensions: [constraints]}}), /2\.5\.29\.30/)
    },
  }

  it('is what is tested here, line by line', () => {
    assert.deepEqual(publishedLines().sort(), Object.keys(proofs).sort())
  })

  for (const [line, proof] of Object.entries(proofs)) {
    describe(line, () => {
      if (line.includes('RSA-PSS')) skipWithoutOpenssl()
      it('is refused', async function () {
        // Primes take a while to find.
        this.timeout(60_000)
        await proof()
      })
    })
  }
})
