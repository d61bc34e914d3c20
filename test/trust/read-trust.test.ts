import assert from 'node:assert/strict'
import {readFile, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {ensureAuthority} from '../../src/pki/authority.ts'
import {SERVICE_ACCOUNT_KEYS, catalogFor} from '../../src/pki/catalog.ts'
import {encodeBundle} from '../../src/pki/bundle.ts'
import {ensureKeyPair} from '../../src/pki/key-pair.ts'
import {ensureLeaf} from '../../src/pki/leaf.ts'
import {pairStore} from '../../src/pki/pair-store.ts'
import {privateKeyPem, publicKeyPem} from '../../src/pki/keys.ts'
import {readTrust, type TrustSources} from '../../src/trust/read-trust.ts'
import {fixedClock, testAuthority, useTemporaryFolder} from '../pki/support.ts'
import {rsaKeys} from '../helpers/rsa-keys.ts'

const catalog = catalogFor()

describe('the trust of a control plane', () => {
  const folder = useTemporaryFolder()
  const file = (name: string) => join(folder(), name)
  const sources = (signers: TrustSources['signers'] = []): TrustSources => ({
    certDir: folder(),
    catalog,
    signers,
  })
  const read = (signers?: TrustSources['signers']) => readTrust(sources(signers), 7)

  beforeEach(async () => {
    const clock = fixedClock()
    for (const spec of catalog.authorities) await ensureAuthority(folder(), spec, {}, clock)
    const leaf = catalog.leaves.find(({id}) => id === 'apiserver')!
    const [spec] = catalog.authorities
    const authority = await ensureAuthority(folder(), spec!, {}, clock)
    assert.ok(leaf.place.kind === 'pair')
    const store = pairStore(folder(), leaf.place)
    const context = {nodeName: 'one', advertiseAddress: '127.0.0.1'}
    await ensureLeaf(authority, leaf, {store, context}, clock)
    await ensureKeyPair(folder(), SERVICE_ACCOUNT_KEYS)
  })

  it('is one CA for each purpose, and none of them for another', async () => {
    const {generation, bundles, authorities} = await read()
    const pem = (id: string) => authorities.get(id)?.bundlePem
    assert.equal(generation, 7)
    assert.deepEqual(
      Object.entries(bundles).map(([purpose, bundle]) => [purpose, bundle.pem]),
      [
        ['api-server', pem('ca')],
        ['client', pem('ca')],
        ['front-proxy', pem('front-proxy-ca')],
        ['kubelet-serving', pem('kubelet-serving-ca')],
      ],
    )
  })

  it('signs with the first CA of a file and trusts all of them', async () => {
    const old = await readFile(file('ca.crt'), 'utf8')
    const next = await testAuthority({commonName: 'kubernetes'})
    await writeFile(file('ca.crt'), next.pem + old)
    await writeFile(file('ca.key'), privateKeyPem(next.keys.privateKey))
    const {bundles, signing} = await read([{name: 'a', authority: 'ca', purpose: 'client'}])
    assert.equal(signing.get('a')?.certificate.fingerprint, next.certificate.fingerprint)
    assert.equal(bundles.client.pem, next.pem + old)
    assert.equal(bundles.client.certificates.length, 2)
  })

  it('holds the CA that an operator names for a signer, for what that signs and nothing else', async () => {
    const own = await testAuthority({commonName: 'own'})
    await writeFile(file('own.crt'), own.pem)
    await writeFile(file('own.key'), privateKeyPem(own.keys.privateKey), {mode: 0o600})
    const authority = {certificate: file('own.crt'), key: file('own.key')}
    const {bundles, authorities, loginSigners} = await read([
      {name: 'clients', authority, purpose: 'client'},
      {name: 'others', authority: 'legacy-unknown-ca'},
    ])
    const cluster = authorities.get('ca')
    assert.equal(bundles.client.pem, encodeBundle([...cluster!.bundle, own.certificate]))
    assert.equal(bundles['api-server'].pem, cluster?.bundlePem)
    assert.deepEqual([...loginSigners], ['clients'])
  })

  it('leaves a signer to others whose CA is not here, or only its certificate', async () => {
    await rm(file('kubelet-serving-ca.crt'))
    await rm(file('kubelet-serving-ca.key'))
    await rm(file('ca.key'))
    const {signing, bundles} = await read([
      {name: 'a', authority: 'kubelet-serving-ca', purpose: 'kubelet-serving'},
      {name: 'b', authority: 'ca', purpose: 'client'},
    ])
    assert.deepEqual([signing.size, bundles['kubelet-serving']], [0, undefined])
  })

  it('believes the tokens of every key in sa.pub, and signs with sa.key', async () => {
    const own = await readFile(file('sa.pub'), 'utf8')
    const {publicKey: older} = rsaKeys()
    await writeFile(file('sa.pub'), publicKeyPem(older) + own)
    const {signing, verification} = (await read()).tokenKeys
    assert.deepEqual(verification.map(({key}) => publicKeyPem(key)).sort(), [
      ...[publicKeyPem(older), own].sort(),
    ])
    assert.equal(signing.key.type, 'private')
  })

  const refusals = [
    {
      name: 'without the CA of the cluster',
      change: async () => {
        await rm(file('ca.crt'))
        await rm(file('ca.key'))
      },
      error: {code: 'NOT_FOUND', message: /there is no CA "ca" in/},
    },
    {
      name: 'without a serving certificate',
      change: () => rm(file('apiserver.crt')),
      error: {code: 'NOT_FOUND', message: /the serving certificate or its key is missing/},
    },
    {
      name: 'whose serving certificate is of another key',
      change: async () => writeFile(file('apiserver.crt'), (await testAuthority()).pem),
      error: {code: 'PAIR_MISMATCH', message: /apiserver\.crt does not belong to its key/},
    },
    {
      name: 'that cannot sign tokens',
      change: () => rm(file('sa.key')),
      error: {code: 'NOT_FOUND', message: /the key that signs service-account tokens is missing/},
    },
    {
      name: 'whose sa.pub holds only foreign keys',
      change: async () => writeFile(file('sa.pub'), publicKeyPem(rsaKeys().publicKey)),
      error: {code: 'PAIR_MISMATCH', message: /sa\.pub does not contain the public key of/},
    },
  ]
  for (const {name, change, error} of refusals) {
    it(`is not read ${name}`, async () => {
      await change()
      await assert.rejects(read(), error)
    })
  }
})
