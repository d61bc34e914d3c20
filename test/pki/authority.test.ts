import assert from 'node:assert/strict'
import {chmod, lstat, mkdir, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {ensureAuthority, requireIssuer} from '../../src/pki/authority.ts'
import {AUTHORITIES, SERVICE_ACCOUNT_KEYS} from '../../src/pki/catalog.ts'
import {ensureKeyPair} from '../../src/pki/key-pair.ts'
import {generateKeys, isPairOf, privateKeyPem, publicKeyPem} from '../../src/pki/keys.ts'
import {DAY, NOW, fixedClock, save, testAuthority, testLeaf, useTemporaryFolder} from './support.ts'
import {rsaKeys} from '../helpers/rsa-keys.ts'

const spec = AUTHORITIES[0]!
const etcd = AUTHORITIES.find(({id}) => id === 'etcd-ca')!

describe('ensureAuthority', () => {
  const folder = useTemporaryFolder()
  const dir = () => join(folder(), 'pki')
  const ensure = (clock = fixedClock()) => ensureAuthority(dir(), spec, {}, clock)
  const filesOf = async () =>
    Promise.all(
      (await readdir(dir()))
        .sort()
        .map(async (name) => [name, await readFile(join(dir(), name), 'utf8')]),
    )

  it('makes a CA of ten years that starts five minutes back', async () => {
    const {certificate, created, issuer} = await ensure()
    assert.equal(created, true)
    assert.ok(issuer)
    assert.equal(certificate.subject.commonName, 'kubernetes')
    assert.deepEqual(certificate.notBefore, new Date('2026-03-01T11:55:00Z'))
    assert.equal(certificate.notAfter.getTime() - certificate.notBefore.getTime(), 3650 * DAY)
    assert.equal((await lstat(join(dir(), 'ca.key'))).mode & 0o777, 0o600)
  })

  it('makes what is asked for, also in a folder below', async () => {
    const options = {algorithm: 'ECDSA-P384', lifetime: 30 * DAY} as const
    const {certificate} = await ensureAuthority(dir(), etcd, options, fixedClock())
    assert.ok(certificate.notAfter < new Date(NOW.getTime() + 31 * DAY))
    assert.match(await readFile(join(dir(), 'etcd', 'ca.key'), 'utf8'), /PRIVATE KEY/)
    assert.equal((await lstat(join(dir(), 'etcd'))).mode & 0o777, 0o700)
  })

  it('uses a CA that is there and changes nothing', async () => {
    const made = await ensure()
    const before = await filesOf()
    const found = await ensure()
    assert.equal(found.created, false)
    assert.equal(found.certificate.fingerprint, made.certificate.fingerprint)
    assert.deepEqual(await filesOf(), before)
  })

  it('makes one CA where many ask at once', async () => {
    const all = await Promise.all(Array.from({length: 6}, () => ensure()))
    assert.equal(new Set(all.map(({certificate}) => certificate.fingerprint)).size, 1)
  })

  describe('with a CA that an operator brings', () => {
    beforeEach(() => mkdir(dir()))

    it('uses a bundle, signs by its first certificate and locks others out of the key', async () => {
      const [own, older] = [await testAuthority(), await testAuthority()]
      const text = `operator's CA\n${own.pem}${older.pem}`
      await save(dir(), {'ca.crt': text, 'ca.key': privateKeyPem(own.keys.privateKey)})
      await chmod(join(dir(), 'ca.key'), 0o644)
      await chmod(dir(), 0o755)
      const {bundle, certificate, issuer} = await ensure()
      assert.equal(bundle.length, 2)
      assert.equal(certificate.fingerprint, own.certificate.fingerprint)
      assert.ok(issuer)
      assert.equal((await lstat(join(dir(), 'ca.key'))).mode & 0o777, 0o600)
      assert.equal((await lstat(dir())).mode & 0o777, 0o700)
      assert.equal(await readFile(join(dir(), 'ca.crt'), 'utf8'), text)
    })

    it('trusts a CA without its key, and says what is missing to sign', async () => {
      const {pem} = await testAuthority()
      await save(dir(), {'ca.crt': pem})
      const authority = await ensure()
      assert.equal(authority.issuer, undefined)
      assert.throws(() => requireIssuer(authority, 'apiserver'), {code: 'SIGNER_KEY_MISSING'})
      assert.deepEqual(await readdir(dir()), ['ca.crt'])
    })

    it('refuses a key of another pair', async () => {
      const [one, other] = [await testAuthority(), await testAuthority()]
      await save(dir(), {'ca.crt': one.pem, 'ca.key': privateKeyPem(other.keys.privateKey)})
      await assert.rejects(ensure(), {code: 'PAIR_MISMATCH'})
    })

    it('refuses a key without a certificate and does not overwrite it', async () => {
      const text = privateKeyPem((await generateKeys()).privateKey)
      await save(dir(), {'ca.key': text})
      await assert.rejects(ensure(), {code: 'PAIR_MISMATCH'})
      assert.deepEqual(await filesOf(), [['ca.key', text]])
    })

    it('refuses a certificate that is no CA', async () => {
      const {pem, keys} = await testLeaf((await testAuthority()).issuer)
      await save(dir(), {'ca.crt': pem, 'ca.key': privateKeyPem(keys.privateKey)})
      await assert.rejects(ensure(), {code: 'CERTIFICATE_INVALID', message: /not a CA/})
    })

    it('refuses a file that holds no certificate and does not overwrite it', async () => {
      await save(dir(), {'ca.crt': 'nothing'})
      await assert.rejects(ensure(), {code: 'CERTIFICATE_INVALID'})
      assert.deepEqual(await filesOf(), [['ca.crt', 'nothing']])
    })
  })

  it('refuses a CA that has expired, and uses it again when the clock is set right', async () => {
    await ensure()
    await assert.rejects(ensure(fixedClock(new Date('2040-01-01'))), {code: 'SIGNER_EXPIRED'})
    assert.equal((await ensure()).created, false)
  })

  it('refuses a CA from the future after the clock has jumped back', async () => {
    await ensure()
    await assert.rejects(ensure(fixedClock(new Date('2020-01-01'))), {
      code: 'SIGNER_NOT_YET_VALID',
      message: /not valid before 2026-03-01/,
    })
  })
})

describe('ensureKeyPair', () => {
  const folder = useTemporaryFolder()
  const ensure = () => ensureKeyPair(folder(), SERVICE_ACCOUNT_KEYS)

  it('makes both keys once', async () => {
    const made = await ensure()
    const found = await ensure()
    assert.deepEqual([made.created, found.created], [true, false])
    assert.ok(found.privateKey && isPairOf(found.privateKey, made.publicKeys[0]!))
    assert.deepEqual((await readdir(folder())).sort(), ['sa.key', 'sa.pub'])
  })

  it('makes a public key that is missing again', async () => {
    const {publicKeys} = await ensure()
    await rm(join(folder(), 'sa.pub'))
    await ensure()
    assert.equal(await readFile(join(folder(), 'sa.pub'), 'utf8'), publicKeyPem(publicKeys[0]!))
  })

  it('checks by a public key alone', async () => {
    const {publicKey} = await generateKeys()
    await writeFile(join(folder(), 'sa.pub'), publicKeyPem(publicKey))
    const found = await ensure()
    assert.equal(found.privateKey, undefined)
    assert.ok(found.publicKeys[0]?.equals(publicKey))
  })

  it('believes every key of a public file that holds the private one’s half among them', async () => {
    const {publicKeys} = await ensure()
    const {publicKey: older} = rsaKeys()
    const pems = [publicKeyPem(older), publicKeyPem(publicKeys[0]!)]
    await writeFile(join(folder(), 'sa.pub'), pems.join('an explanation\n'))
    assert.deepEqual((await ensure()).publicKeys.map(publicKeyPem), pems)
  })

  it('refuses keys of two pairs', async () => {
    await ensure()
    await writeFile(join(folder(), 'sa.pub'), publicKeyPem((await generateKeys()).publicKey))
    await assert.rejects(ensure(), {code: 'PAIR_MISMATCH'})
  })
})
