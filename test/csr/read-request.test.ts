import assert from 'node:assert/strict'
import {
  commonNameIn,
  isUnambiguous,
  leafCertificateIn,
  parseSpecRequest,
  parseStoredRequest,
  recently,
  requestOf,
  soleCertificateIn,
  verifiedRequestOf,
  verifyAhead,
} from '../../src/csr/read-request.ts'
import {createPlainRequest} from '../../src/pki/create.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {encodePem} from '../../src/pki/pem.ts'
import {buildRequest} from '../pki/request-builder.ts'
import {testAuthority, testLeaf} from '../pki/support.ts'
import {rsaKeys} from '../helpers/rsa-keys.ts'

describe('what was worked out recently', () => {
  const counting = () => {
    const worked: string[] = []
    const length = recently(
      (text) => {
        worked.push(text)
        if (text === 'bad') throw new Error('bad')
        return text.length
      },
      {most: 2, longest: 4},
    )
    return {worked, length}
  }

  it('is not worked out again', () => {
    const {worked, length} = counting()
    assert.deepEqual([length('a'), length('a')], [1, 1])
    assert.deepEqual(worked, ['a'])
  })

  it('is forgotten when others came after it', () => {
    const {worked, length} = counting()
    for (const text of ['a', 'b', 'c', 'b', 'a']) length(text)
    assert.deepEqual(worked, ['a', 'b', 'c', 'a'])
  })

  it('is not kept of long texts, nor where it failed', () => {
    const {worked, length} = counting()
    for (let time = 0; time < 2; time += 1) {
      assert.equal(length('longer'), 6)
      assert.throws(() => length('bad'))
    }
    assert.deepEqual(worked, ['longer', 'bad', 'longer', 'bad'])
  })

  it('can be looked up without any work', () => {
    const {worked, length} = counting()
    assert.equal(length.known('a'), undefined)
    length('a')
    assert.equal(length.known('a'), 1)
    assert.deepEqual(worked, ['a'])
  })
})

const encode = (text: string) => Buffer.from(text).toString('base64')

describe('the common name that is asked for', () => {
  it('is the one that reading the whole request finds', async () => {
    for (const keys of [await generateKeys(), rsaKeys()]) {
      for (const commonName of ['system:node:a', 'Zoë', '']) {
        const pem = await createPlainRequest({commonName, organizations: ['o']}, keys)
        const verdict = parseSpecRequest(encode(pem))
        assert.ok('request' in verdict)
        assert.equal(commonNameIn(encode(pem)), verdict.request.subject.commonName)
      }
    }
  })

  it('is not there where nothing can be read', () => {
    const texts = ['', 'no PEM', encodePem('CERTIFICATE REQUEST', Buffer.from('no DER'))]
    for (const text of texts) assert.equal(commonNameIn(encode(text)), undefined)
    assert.equal(commonNameIn(undefined), undefined)
  })
})

describe('reading a request again', () => {
  it('is spared for a signer, if the server has just read it in full', async () => {
    const pem = await createPlainRequest({commonName: 'a'}, await generateKeys('ECDSA-P256'))
    const first = parseSpecRequest(encode(pem))
    const second = parseStoredRequest(encode(pem))
    assert.ok('request' in first && 'request' in second)
    assert.equal(second.request, first.request)
  })

  it('is spared for those that are short, and nothing is kept of long ones', async () => {
    const pem = await createPlainRequest({commonName: 'a'}, await generateKeys('ECDSA-P256'))
    const [short, long] = [encode(pem), encode(`${'text\n'.repeat(10_000)}${pem}`)]
    const requestIn = (encoded: string) => {
      const verdict = parseSpecRequest(encoded)
      assert.ok('request' in verdict)
      return verdict.request
    }
    assert.equal(requestIn(short), requestIn(short))
    assert.notEqual(requestIn(long), requestIn(long))
  })
})

describe('a request that everyone reads in the same way', () => {
  const block = (body = 'aGk=') =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
  const rows: [string, string, boolean][] = [
    ['is one block', block(), true],
    ['may have lines of other systems', block().replaceAll('\n', '\r\n'), true],
    ['may have text around it, as openssl writes', `Data:\n  Version: 1\n${block()}\nend\n`, true],
    ['is not one of two', block() + block(), false],
    ['is not one behind half a block', `-----BEGIN CERTIFICATE REQUEST-----\n${block()}`, false],
    ['is not one behind an end', `-----END ${block()}`, false],
    ['has no headers', block('a b: c\n\naGk='), false],
    ['is there', '', false],
  ]
  for (const [name, text, expected] of rows) {
    it(name, () => assert.equal(isUnambiguous(encode(text)), expected))
  }
})

describe('the request of an object', () => {
  let good = ''
  let forged = ''
  before(async () => {
    const [keys, other] = await Promise.all([generateKeys(), generateKeys()])
    good = encode(buildRequest(keys))
    const publicKeyInfo = other.publicKey.export({format: 'der', type: 'spki'})
    forged = encode(buildRequest(keys, {publicKeyInfo}))
  })

  it('is read once, and again where it has become another', () => {
    const csr = {spec: {request: good}}
    const first = requestOf(csr)
    assert.ok('request' in first)
    csr.spec = {...csr.spec}
    assert.equal(requestOf(csr), first)
    csr.spec.request = forged
    assert.notEqual(requestOf(csr), first)
  })

  it('is verified ahead, or when it is asked for', async () => {
    const [ahead, late] = [{spec: {request: good}}, {spec: {request: good}}]
    await verifyAhead(ahead)
    assert.equal(verifiedRequestOf(ahead), requestOf(ahead))
    assert.ok('request' in verifiedRequestOf(late))
  })

  it('is not verified where another key signed it, though it can be read', async () => {
    const [ahead, late] = [{spec: {request: forged}}, {spec: {request: forged}}]
    await verifyAhead(ahead)
    for (const csr of [ahead, late]) {
      assert.ok('request' in requestOf(csr))
      const verdict = verifiedRequestOf(csr)
      assert.match('why' in verdict ? verdict.why : '', /signature/)
    }
  })

  it('is not verified by what was verified of another one', async () => {
    const csr = {spec: {request: good}}
    await verifyAhead(csr)
    csr.spec.request = forged
    assert.ok('why' in verifiedRequestOf(csr))
  })

  it('is said to be unreadable where it is, or is not there', async () => {
    for (const csr of [{}, {spec: {}}, {spec: {request: encode('nonsense')}}]) {
      await verifyAhead(csr)
      const why = 'PEM block type must be CERTIFICATE REQUEST'
      assert.deepEqual(requestOf(csr), {why})
      assert.deepEqual(verifiedRequestOf(csr), {why})
    }
  })
})

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
