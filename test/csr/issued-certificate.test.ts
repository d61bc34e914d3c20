import assert from 'node:assert/strict'
import {leafCertificateIn, soleCertificateIn} from '../../src/csr/issued-certificate.ts'
import {testAuthority, testLeaf} from '../pki/support.ts'

const encoded = (text: string) => Buffer.from(text).toString('base64')

describe('the certificate of a request', () => {
  let leaf: Awaited<ReturnType<typeof testLeaf>>
  let ca: string
  before(async () => {
    const authority = await testAuthority()
    leaf = await testLeaf(authority.issuer)
    ca = authority.pem
  })

  it('is read where it stands alone, or with words around it', () => {
    for (const text of [leaf.pem, `issued by hand\n${leaf.pem}the end\n`]) {
      assert.equal(soleCertificateIn(encoded(text)).serial, leaf.certificate.serial)
    }
  })

  it('does not stand alone among others, with headers, or where there is none', () => {
    const headed = leaf.pem.replace('\n', '\nProc-Type: 4\n\n')
    for (const text of [`${leaf.pem}${ca}`, headed, '', 'words']) {
      assert.throws(() => soleCertificateIn(encoded(text)), {code: 'CERTIFICATE_INVALID'})
    }
  })

  it('is the first of a chain', () => {
    const {serial} = leafCertificateIn(encoded(`${leaf.pem}${ca}`))
    assert.equal(serial, leaf.certificate.serial)
  })
})
