import assert from 'node:assert/strict'
import fc from 'fast-check'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createRequest} from '../../src/pki/create.ts'
import {issueFromRequest} from '../../src/pki/issuer.ts'
import {parseRequest, type CertificateRequest} from '../../src/pki/request.ts'
import {NOW, testAuthority, validAround, type TestAuthority} from './support.ts'
import {inconsistentUsages} from './usage-rules.ts'
import {rsaKeys} from '../helpers/rsa-keys.ts'

const BITS = [
  ...['digital signature', 'content commitment', 'key encipherment', 'data encipherment'],
  ...['key agreement', 'crl sign', 'encipher only', 'decipher only'],
]
const EXTENDED = [
  ...['server auth', 'client auth', 'code signing', 'email protection'],
  ...['timestamping', 'ocsp signing'],
]

describe('the usages of a certificate', () => {
  let ca: TestAuthority
  let request: CertificateRequest
  before(async () => {
    ca = await testAuthority()
    const pem = await createRequest({commonName: 'one'}, rsaKeys())
    request = parseRequest(pem)
  })
  const issued = async (usages: string[]) =>
    parseCertificate(
      await issueFromRequest(ca.issuer, request, {usages, validity: validAround(NOW)}),
    )

  it('are such that its extended usages allow its key usages, whatever a request names', async () => {
    const some = fc.tuple(fc.subarray(BITS, {minLength: 1}), fc.subarray(EXTENDED, {minLength: 1}))
    await fc.assert(
      fc.asyncProperty(some, async ([bits, extended]) => {
        const certificate = await issued([...bits, ...extended, 'digital signature'])
        const keyUsages = [...new Set([...bits, 'digital signature'])]
        const wrong = inconsistentUsages({keyUsages, extendedKeyUsages: extended})
        assert.deepEqual(
          certificate.keyUsages?.toSorted(),
          keyUsages.filter((usage) => !wrong.includes(usage)).sort(),
        )
        assert.deepEqual(certificate.extendedKeyUsages, extended)
      }),
      {numRuns: 60},
    )
  })

  it('leave key encipherment out of what an RSA client asks for, and in what an RSA server does', async () => {
    const asked = ['digital signature', 'key encipherment']
    assert.deepEqual((await issued([...asked, 'client auth'])).keyUsages, ['digital signature'])
    assert.deepEqual((await issued([...asked, 'server auth'])).keyUsages, asked)
  })

  it('stay as they are where no extended usage says what they are for, or none would be left', async () => {
    assert.deepEqual((await issued(BITS)).keyUsages, BITS)
    assert.deepEqual((await issued(['data encipherment', 'any'])).keyUsages, ['data encipherment'])
    const alone = await issued(['key encipherment', 'client auth'])
    assert.deepEqual(alone.keyUsages, ['key encipherment'])
  })
})
