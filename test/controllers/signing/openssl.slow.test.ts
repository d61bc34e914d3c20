import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {decide} from '../../../src/controllers/signing/decide.ts'
import {DerReader} from '../../../src/pki/der-reader.ts'
import {extension, octetString} from '../../../src/pki/der-writer.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {readExtensions} from '../../../src/pki/extensions.ts'
import {generateKeys, type KeyAlgorithm, type KeyPair} from '../../../src/pki/keys.ts'
import {OID} from '../../../src/pki/oids.ts'
import {
  DAY,
  openssl,
  save,
  testAuthority,
  useTemporaryFolder,
  validAround,
} from '../../pki/support.ts'
import {authorityExtension, buildRequest} from '../../pki/request-builder.ts'
import {
  CLIENT_USAGES,
  SERVING_USAGES,
  csrFor,
  pemOf,
  wellKnownSigners,
  type Wish,
} from './support.ts'

/** openssl knows the time of this machine only. */
const now = new Date()
const NAMES = {
  dns: ['one.example.com'],
  ips: ['192.0.2.1', '2001:db8::1'],
  emails: ['ada@example.com'],
  uris: ['spiffe://example.com/ada'],
}

const SIGNED: {signer: string; purpose: string; wish: Wish}[] = [
  {
    signer: 'kubernetes.io/kube-apiserver-client',
    purpose: 'sslclient',
    wish: {commonName: 'ada', organizations: ['devs', 'ops'], names: NAMES, usages: CLIENT_USAGES},
  },
  {
    signer: 'kubernetes.io/kube-apiserver-client-kubelet',
    purpose: 'sslclient',
    wish: {usages: CLIENT_USAGES},
  },
  {
    signer: 'kubernetes.io/kubelet-serving',
    purpose: 'sslserver',
    wish: {names: {dns: NAMES.dns, ips: NAMES.ips}, usages: SERVING_USAGES},
  },
  {
    signer: 'kubernetes.io/legacy-unknown',
    purpose: 'smimesign',
    wish: {commonName: 'ada', names: NAMES, usages: ['digital signature', 's/mime']},
  },
]

/** What may stand in what we sign, and nothing else. */
const PERMITTED: string[] = [
  OID.basicConstraints,
  OID.keyUsage,
  OID.extendedKeyUsage,
  OID.subjectKeyId,
  OID.authorityKeyId,
  OID.subjectAltName,
]

function extensionsOf(pem: string): string[] {
  const {der} = parseCertificate(pem)
  const content = new DerReader(der).enter(0x30).enter(0x30)
  for (;;) {
    const element = content.next()
    if (element.tag !== 0xa3) continue
    return readExtensions(new DerReader(element.content).enter(0x30)).map(({oid}) => oid)
  }
}

describe('what the well-known signers sign', () => {
  const folder = useTemporaryFolder()

  const made = new Map<string, Promise<KeyPair>>()
  /** A pair of each kind for CAs, and one for those who ask: to make RSA keys takes most of the time. */
  function keysOf(holder: 'CA' | 'leaf', algorithm: KeyAlgorithm): Promise<KeyPair> {
    const keys = made.get(`${holder} ${algorithm}`) ?? generateKeys(algorithm)
    made.set(`${holder} ${algorithm}`, keys)
    return keys
  }

  async function sign(csr: CertificateSigningRequest, algorithm: KeyAlgorithm = 'ECDSA-P256') {
    const keys = keysOf('CA', algorithm)
    const {issuer, pem: ca} = await testAuthority({keys, validity: validAround(now, 30)})
    const signer = wellKnownSigners(issuer, DAY).current.get(csr.spec.signerName)!
    const {apply} = await decide(csr, {signer, now, checksSignature: true})
    return {ca, pem: pemOf({...csr, status: apply({})})}
  }

  for (const {signer, purpose, wish} of SIGNED) {
    for (const algorithm of ['ECDSA-P256', 'RSA-2048'] as const) {
      it(`is accepted by openssl for ${purpose}, strictly: ${signer} with ${algorithm}`, async () => {
        const keys = await keysOf('leaf', algorithm)
        const {ca, pem} = await sign(await csrFor({...wish, signerName: signer, keys}), algorithm)
        await save(folder(), {'ca.crt': ca, 'leaf.crt': pem})
        const [caFile, leafFile] = [join(folder(), 'ca.crt'), join(folder(), 'leaf.crt')]
        const said = await openssl(
          ...['verify', '-x509_strict', '-purpose', purpose, '-CAfile', caFile, leafFile],
        )
        assert.match(said, /leaf\.crt: OK/)
        const text = await openssl('x509', '-in', leafFile, '-noout', '-text')
        assert.match(text, /Version: 3/)
        assert.match(text, /CA:FALSE/)
        assert.deepEqual(parseCertificate(pem).names, {
          dns: [],
          ips: [],
          emails: [],
          uris: [],
          ...wish.names,
        })
      })
    }

    it(`holds permitted extensions only, whatever ${signer} is asked for`, async () => {
      const csr = await csrFor({...wish, signerName: signer})
      const honest = extensionsOf((await sign(csr)).pem)
      const greedy = buildRequest(await generateKeys(), {
        subject: [
          {oid: OID.organization, value: wish.organizations?.[0] ?? 'system:nodes'},
          {oid: OID.commonName, value: wish.commonName ?? 'system:node:one'},
        ],
        extensions: [
          [
            authorityExtension(),
            extension(OID.keyUsage, Buffer.from('03020106', 'hex'), {critical: true}),
            extension('1.3.6.1.4.1.99999.1', octetString(Buffer.from('mine')), {critical: true}),
            ...(wish.names ? [subjectNames()] : []),
          ],
        ],
      })
      csr.spec.request = Buffer.from(greedy).toString('base64')
      const {pem} = await sign(csr)
      assert.deepEqual(extensionsOf(pem), honest)
      assert.ok(honest.every((oid) => PERMITTED.includes(oid)))
      const {isAuthority, keyUsages = []} = parseCertificate(pem)
      assert.equal(isAuthority, false)
      assert.ok(!keyUsages.includes('cert sign'))
    })
  }

  /** One DNS name: "a". */
  const subjectNames = () => extension(OID.subjectAltName, Buffer.from('3003820161', 'hex'))

  it('has a serial number of its own each time', async () => {
    const csr = await csrFor()
    const serials = await Promise.all(
      Array.from({length: 8}, async () => parseCertificate((await sign(csr)).pem).serial),
    )
    assert.equal(new Set(serials).size, 8)
    assert.ok(serials.every((serial) => serial.length > 24))
  })
})
