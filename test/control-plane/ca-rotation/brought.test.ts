import assert from 'node:assert/strict'
import {readdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {readBrought} from '../../../src/cli/rotation/brought.ts'
import {type BroughtAuthority, shortenedBy} from '../../../src/control-plane/ca-rotation/brought.ts'
import {newJournal} from '../../../src/control-plane/ca-rotation/new-journal.ts'
import {TrustError} from '../../../src/errors.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {createIssuer, crossSign} from '../../../src/pki/issuer.ts'
import {privateKeyPem} from '../../../src/pki/keys.ts'
import type {Validity} from '../../../src/pki/lifetimes.ts'
import {DAY, NOW, openssl, skipWithoutOpenssl, testAuthority} from '../../pki/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const until = (days: number, from = -1): Validity => ({
  notBefore: new Date(NOW.getTime() + from * DAY),
  notAfter: new Date(NOW.getTime() + days * DAY),
})

/** A CA in the form in which an operator brings it along. */
async function authority(validity: Validity): Promise<BroughtAuthority> {
  const {pem, keys} = await testAuthority({commonName: 'next', validity})
  return {certificatePem: pem, keyPem: privateKeyPem(keys.privateKey)}
}

/** A CA below another one, without the certificate of that one, and that certificate. */
async function intermediate(rootValidity: Validity, validity: Validity) {
  const root = await testAuthority({commonName: 'root', validity: rootValidity})
  const {pem, keys} = await testAuthority({commonName: 'next', validity: until(3650)})
  const issuer = createIssuer(root.certificate, root.keys.privateKey)
  const certificatePem = await crossSign(issuer, parseCertificate(pem), validity)
  return {certificatePem, keyPem: privateKeyPem(keys.privateKey), rootPem: root.pem}
}

describe('a CA that an operator brings along', () => {
  let fixture: PlaneFixture
  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs')
  })
  after(() => fixture.remove())

  const begin = (given: BroughtAuthority, id = 'ca') =>
    newJournal(fixture.context.plane, undefined, {brought: new Map([[id, given]])}, NOW)
  const files = async () => (await readdir(fixture.dir, {recursive: true})).sort()
  /** What the refusal says. Nothing was written before it. */
  const refusal = async (given: BroughtAuthority, id?: string) => {
    const before = await files()
    const error = await begin(given, id).catch((found: unknown) => found)
    assert.ok(error instanceof TrustError, String(error))
    assert.deepEqual(await files(), before)
    return `${error.code}: ${error.message}`
  }

  it('is refused if it has expired, is not valid yet, or ends within 30 days', async () => {
    assert.equal(
      await refusal(await authority(until(-0.5))),
      'SIGNER_EXPIRED: --new-ca ca: this CA expired on 2026-03-01T00:00:00Z',
    )
    assert.match(
      await refusal(await authority(until(400, 1))),
      /^SIGNER_NOT_YET_VALID: --new-ca ca: this CA is not valid before 2026-03-02T12:00:00Z/,
    )
    assert.equal(
      await refusal(await authority(until(29))),
      'USAGE: --new-ca ca: this CA ends on 2026-03-30T12:00:00Z, within 30 days',
    )
    assert.ok(await begin(await authority(until(31))))
  })

  it('is refused if it is an intermediate CA without its root, and works with it', async () => {
    const {rootPem, ...given} = await intermediate(until(3650), until(400))
    assert.match(await refusal(given), /^USAGE: .* an intermediate CA, and its root is not in the /)
    const other = await testAuthority({commonName: 'other'})
    const wrong = {...given, certificatePem: given.certificatePem + other.pem}
    assert.match(await refusal(wrong), /^USAGE: .* would be refused: .* unknown authority/)
    assert.ok(await begin({...given, certificatePem: given.certificatePem + rootPem}))
  })

  it('is refused if the CA above it ends first', async () => {
    const root = await testAuthority({commonName: 'root', validity: until(100)})
    const below = await testAuthority({commonName: 'below', validity: until(400)})
    const der = await root.issuer.signAuthority(below.certificate, until(400))
    const pem = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
    const longer = {
      keyPem: privateKeyPem(below.keys.privateKey),
      certificatePem: pem + root.pem,
    }
    assert.match(await refusal(longer), /a CA above this one ends before it, on 2026-06-09/)
  })

  it('is refused with the key of another one', async () => {
    const [one, other] = [await authority(until(400)), await authority(until(400))]
    assert.match(await refusal({...one, keyPem: other.keyPem}), /^PAIR_MISMATCH: /)
    const paths = {crt: join(fixture.dir, 'next.crt'), key: join(fixture.dir, 'next.key')}
    await writeFile(paths.crt, one.certificatePem)
    await writeFile(paths.key, other.keyPem, {mode: 0o600})
    await assert.rejects(readBrought([`ca=${paths.crt},${paths.key}`]), {code: 'PAIR_MISMATCH'})
  })

  it('has its key in a file: how others name keys elsewhere is not supported yet', async () => {
    for (const key of ['pkcs11:token=hsm;object=ca', 'https://signer.example', 'awskms:///1']) {
      const error = await readBrought([`ca=next.crt,${key}`]).catch((found: unknown) => found)
      assert.ok(error instanceof TrustError)
      assert.equal(error.code, 'USAGE')
      assert.match(error.suggestions.join(), /PKCS#11 token, is not supported yet/)
    }
    const error = await readBrought(['ca=next.crt']).catch((found: unknown) => found)
    assert.ok(error instanceof TrustError)
    assert.match(error.suggestions.join(), /a signing service, .* is not supported yet/)
  })

  it('that ends before certificates would is said to end them', async () => {
    const {plane} = fixture.context
    const said = async (days: number) =>
      shortenedBy(plane, new Map([['ca', await authority(until(days))]]), NOW)
    assert.deepEqual(await said(100), [
      'the new CA "ca" ends on 2026-06-09T12:00:00Z, and so does every certificate that it signs: sooner than after the usual 365 days',
    ])
    assert.deepEqual(await said(366), [])
  })

  describe('and was made with openssl', () => {
    skipWithoutOpenssl()

    it('is refused if it may not sign what it is for', async () => {
      const [crt, key] = [join(fixture.dir, 'limited.crt'), join(fixture.dir, 'limited.key')]
      const extensions = (...lines: string[]) => lines.flatMap((line) => ['-addext', line])
      await openssl(
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
        ...['-keyout', key, '-out', crt, '-days', '400', '-subj', '/CN=limited'],
        ...extensions('keyUsage=critical,keyCertSign', 'extendedKeyUsage=clientAuth'),
      )
      const given = (await readBrought([`ca=${crt},${key}`])).get('ca')
      assert.ok(given)
      const start = (id: string) =>
        newJournal(fixture.context.plane, undefined, {brought: new Map([[id, given]])}, new Date())
      await assert.rejects(start('ca'), {
        code: 'USAGE',
        message: /would be refused: its CA cannot be used: it is not meant for "server auth"/,
      })
      assert.ok(await start('front-proxy-ca'))
    })
  })
})
