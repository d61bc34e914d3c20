import assert from 'node:assert/strict'
import {join} from 'node:path'
import {createRequest} from '../../src/pki/create.ts'
import {issueFromRequest} from '../../src/pki/issuer.ts'
import {KEY_ALGORITHMS, generateKeys, privateKeyPem, type KeyPair} from '../../src/pki/keys.ts'
import {parseRequest} from '../../src/pki/request.ts'
import {namesOfHosts} from '../../src/pki/subject-names.ts'
import {
  NOW,
  DAY,
  openssl,
  save,
  skipWithoutOpenssl,
  testAuthority,
  testLeaf,
  useTemporaryFolder,
} from './support.ts'

const at = (date: Date) => ['-attime', String(Math.floor(date.getTime() / 1000))]

describe('certificates seen by openssl', function () {
  this.timeout(60_000)
  skipWithoutOpenssl()
  const folder = useTemporaryFolder()
  const file = (name: string) => join(folder(), name)

  for (const algorithm of KEY_ALGORITHMS) {
    // A large RSA key takes a second or more.
    let made: Promise<KeyPair> | undefined
    const keysOfKind = () => (made ??= generateKeys(algorithm))

    it(`verifies strictly what a ${algorithm} CA issues to servers, clients and requests`, async () => {
      const {pem, issuer} = await testAuthority({keys: keysOfKind()})
      const names = namesOfHosts(['node1.example.com', '192.0.2.7', '2001:db8::7'])
      const keys = await generateKeys()
      const request = parseRequest(
        await createRequest(
          {commonName: 'system:node:node1', organizations: ['system:nodes']},
          keys,
          names,
        ),
      )
      const validity = {
        notBefore: new Date(NOW.getTime() - DAY),
        notAfter: new Date(NOW.getTime() + DAY),
      }
      await save(folder(), {
        'ca.pem': pem,
        'server.pem': (
          await testLeaf(issuer, {names, usages: ['digital signature', 'server auth']})
        ).pem,
        'client.pem': (await testLeaf(issuer)).pem,
        'request.pem': await issueFromRequest(issuer, request, {
          usages: ['digital signature', 'server auth', 'client auth'],
          validity,
        }),
      })

      const verify = [
        'verify',
        '-x509_strict',
        '-check_ss_sig',
        '-CAfile',
        file('ca.pem'),
        ...at(NOW),
      ]
      await openssl(
        ...verify,
        '-purpose',
        'sslserver',
        '-verify_ip',
        '2001:db8::7',
        file('server.pem'),
      )
      await openssl(...verify, '-purpose', 'sslclient', file('client.pem'))
      await openssl(
        ...verify,
        '-purpose',
        'sslserver',
        '-verify_hostname',
        'node1.example.com',
        file('request.pem'),
      )
      await assert.rejects(openssl(...verify, '-purpose', 'sslserver', file('client.pem')))
    })

    it(`writes ${algorithm} requests and keys that openssl reads`, async () => {
      const keys = await keysOfKind()
      const names = namesOfHosts(['a.example.com', '192.0.2.1'])
      await save(folder(), {
        'r.csr': await createRequest({commonName: 'a', organizations: ['one', 'two']}, keys, names),
        'r.key': privateKeyPem(keys.privateKey),
      })

      assert.match(await openssl('req', '-verify', '-noout', '-in', file('r.csr')), /verify OK/)
      const described = await openssl('req', '-text', '-noout', '-in', file('r.csr'))
      assert.match(described, /O = one, O = two, CN = a/)
      assert.match(described, /DNS:a\.example\.com, IP Address:192\.0\.2\.1/)
      assert.match(await openssl('pkey', '-check', '-noout', '-in', file('r.key')), /Key is valid/)
    })
  }

  it('writes the years after 2049 in a form that openssl reads', async () => {
    const validity = {notBefore: NOW, notAfter: new Date('2075-06-07T08:09:10Z')}
    const {pem, issuer} = await testAuthority({validity})
    const leaf = await testLeaf(issuer, {validity})
    await save(folder(), {'ca.pem': pem, 'leaf.pem': leaf.pem})

    const end = await openssl('x509', '-noout', '-enddate', '-in', file('leaf.pem'))
    assert.match(end, /Jun {2}7 08:09:10 2075 GMT/)
    const shape = await openssl('asn1parse', '-in', file('leaf.pem'))
    assert.match(shape, /UTCTIME +:260301120000Z[\s\S]*GENERALIZEDTIME +:20750607080910Z/)
    await openssl(
      ...['verify', '-x509_strict', '-CAfile', file('ca.pem'), ...at(new Date('2070-01-01'))],
      file('leaf.pem'),
    )
  })
})
