import assert from 'node:assert/strict'
import {rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {ensureAuthority, type Authority} from '../../src/pki/authority.ts'
import {LEAVES, catalogFor, type CatalogContext, type Place} from '../../src/pki/catalog.ts'
import {inspectCatalog} from '../../src/pki/inspect.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {ensureLeaf, renewLeaf, type LeafOptions} from '../../src/pki/leaf.ts'
import {pairStore, type LeafMaterial, type LeafStore} from '../../src/pki/pair-store.ts'
import {DAY, HOUR, fixedClock, useTemporaryFolder} from './support.ts'
import {inconsistentUsages} from './usage-rules.ts'

const catalog = catalogFor()
const spec = catalog.authorities[0]!
const apiServer = catalog.leaves.find(({id}) => id === 'apiserver')!
const admin = catalog.leaves.find(({id}) => id === 'admin.conf')!
const context: CatalogContext = {nodeName: 'node1', advertiseAddress: '192.0.2.10'}

/** Stands in for a kubeconfig file, which a layer above writes. */
function memoryStore(location: string): LeafStore & {held?: LeafMaterial} {
  const store: LeafStore & {held?: LeafMaterial} = {
    location,
    files: [],
    read: () => Promise.resolve(store.held),
    write: (material) => {
      store.held = material
      return Promise.resolve()
    },
  }
  return store
}

describe('leaves of the catalog', () => {
  const folder = useTemporaryFolder()
  let clock: ReturnType<typeof fixedClock>
  let authority: Authority
  let store: LeafStore

  const ensure = (
    options: Partial<LeafOptions & {context: CatalogContext}> = {},
    leaf = apiServer,
  ) => ensureLeaf(authority, leaf, {store, context, ...options}, clock)

  beforeEach(async () => {
    clock = fixedClock()
    authority = await ensureAuthority(folder(), spec, {}, clock)
    assert.equal(apiServer.place.kind, 'pair')
    if (apiServer.place.kind === 'pair') store = pairStore(folder(), apiServer.place)
  })

  it('are made for a year, with what the catalog says', async () => {
    const {outcome, certificate} = await ensure()
    assert.equal(outcome, 'created')
    assert.equal(certificate.subject.commonName, 'kube-apiserver')
    assert.deepEqual(certificate.names, apiServer.names(context))
    assert.deepEqual(certificate.extendedKeyUsages, ['server auth'])
    assert.deepEqual(certificate.keyUsages, ['digital signature'])
    assert.equal(certificate.notAfter.getTime() - certificate.notBefore.getTime(), 365 * DAY)
  })

  it('may encipher keys where they are RSA and serve', async () => {
    const {certificate} = await ensure({algorithm: 'RSA-2048'})
    assert.deepEqual(certificate.keyUsages, ['digital signature', 'key encipherment'])
  })

  for (const leaf of LEAVES) {
    it(`carry key usages that their extended ones allow: "${leaf.id}" with an RSA key`, async () => {
      const options = {algorithm: 'RSA-2048', store: memoryStore(leaf.id)} as const
      const {certificate} = await ensure(options, leaf)
      assert.deepEqual(inconsistentUsages(certificate), [])
      assert.ok(certificate.keyUsages?.includes('digital signature'))
    })
  }

  it('never outlive their CA', async () => {
    const {certificate} = await ensure({lifetime: 9999 * DAY})
    assert.deepEqual(certificate.notAfter, authority.certificate.notAfter)
  })

  it('are kept while they are good', async () => {
    const made = await ensure()
    clock.advance(364 * DAY)
    const found = await ensure()
    assert.equal(found.outcome, 'kept')
    assert.equal(found.certificate.fingerprint, made.certificate.fingerprint)
  })

  const reasons: {
    name: string
    spoil: () => Promise<Partial<CatalogContext> | undefined>
    problem: RegExp
  }[] = [
    {
      name: 'they have expired',
      spoil: async () => {
        await ensure()
        clock.advance(366 * DAY)
        return undefined
      },
      problem: /expired/,
    },
    {
      name: 'they are from the future, after the clock has jumped back',
      spoil: async () => {
        clock.advance(30 * DAY)
        await ensure()
        clock.advance(-29 * DAY)
        return undefined
      },
      problem: /not valid before/,
    },
    {
      name: 'a name is missing',
      spoil: async () => {
        await ensure()
        return {extraNames: ['more.example.com']}
      },
      problem: /more\.example\.com/,
    },
    {
      name: 'another CA signed them',
      spoil: async () => {
        await ensure()
        await rm(join(folder(), 'ca.key'))
        await rm(join(folder(), 'ca.crt'))
        authority = await ensureAuthority(folder(), spec, {}, clock)
        return undefined
      },
      problem: /unknown authority/,
    },
    {
      name: 'their key is of another pair',
      spoil: async () => {
        await ensure()
        const {privateKey} = await generateKeys()
        await writeFile(join(folder(), 'apiserver.key'), privateKeyPem(privateKey))
        return undefined
      },
      problem: /does not belong/,
    },
    {
      name: 'their key is gone',
      spoil: async () => {
        await ensure()
        await rm(join(folder(), 'apiserver.key'))
        return undefined
      },
      problem: /key is missing/,
    },
    {
      name: 'they cannot be read',
      spoil: async () => {
        await ensure()
        await writeFile(join(folder(), 'apiserver.crt'), 'nothing')
        return undefined
      },
      problem: /no PEM certificate/,
    },
  ]
  for (const {name, spoil, problem} of reasons) {
    it(`are made again where ${name}`, async () => {
      const change = await spoil()
      const again = {context: {...context, ...change}}
      const {outcome, problems} = await ensure(again)
      assert.equal(outcome, 'replaced')
      assert.match(problems.join(), problem)
      assert.equal((await ensure(again)).outcome, 'kept')
    })
  }

  it('cannot be made under an external CA, and are kept there', async () => {
    const {certificate} = await ensure()
    const {issuer: _, ...external} = authority
    authority = external
    assert.equal((await ensure()).certificate.fingerprint, certificate.fingerprint)
    clock.advance(366 * DAY)
    await assert.rejects(ensure(), {code: 'SIGNER_KEY_MISSING'})
  })

  it('cannot be made by a CA that has expired', async () => {
    clock.advance(4000 * DAY)
    await assert.rejects(ensure(), {code: 'SIGNER_EXPIRED'})
  })

  it('go to any store together with the CA, and follow it', async () => {
    const kept = memoryStore('admin.conf')
    store = kept
    await ensure({}, admin)
    assert.equal(kept.held?.caPem, authority.bundlePem)
    assert.equal((await ensure({}, admin)).outcome, 'kept')
    const other = await ensureAuthority(join(folder(), 'other'), spec, {}, clock)
    kept.held = {...kept.held, caPem: other.bundlePem}
    assert.match((await ensure({}, admin)).problems.join(), /another CA/)
  })

  it('are renewed with the names they had', async () => {
    const extended = {...context, extraNames: ['more.example.com']}
    const before = await ensure({context: extended})
    clock.advance(HOUR)
    const {certificate, outcome} = await renewLeaf(authority, apiServer, {store}, clock)
    assert.equal(outcome, 'replaced')
    assert.deepEqual(certificate.names, before.certificate.names)
    assert.notEqual(certificate.fingerprint, before.certificate.fingerprint)
    assert.ok(!certificate.publicKeyDer.equals(before.certificate.publicKeyDer))
    assert.equal((await ensure({context: extended})).outcome, 'kept')
  })

  describe('inspected', () => {
    const inspect = async () => {
      const openStore = (place: Place) =>
        place.kind === 'pair' ? pairStore(folder(), place) : memoryStore(place.file)
      const lines = await inspectCatalog(catalog, {certDir: folder(), openStore}, clock)
      return new Map(lines.map((line) => [line.id, line]))
    }

    it('show when they end and what signs them', async () => {
      const {certificate} = await ensure()
      const line = (await inspect()).get('apiserver')
      assert.deepEqual(line, {
        id: 'apiserver',
        kind: 'leaf',
        location: join(folder(), 'apiserver.crt'),
        authority: 'ca',
        externallyManaged: false,
        expires: certificate.notAfter,
        residual: certificate.notAfter.getTime() - clock.now().getTime(),
        current: true,
        pin: pinOf(certificate),
        serial: certificate.serial,
        issuer: 'CN=kubernetes',
        problems: [],
        warnings: [],
      })
    })

    it('show every entry, also where a CA is missing', async () => {
      const lines = await inspect()
      assert.equal(lines.size, catalog.authorities.length + catalog.leaves.length)
      assert.deepEqual(lines.get('ca')?.problems, [])
      assert.deepEqual(lines.get('front-proxy-ca')?.problems, ['it is missing'])
      assert.match(lines.get('front-proxy-client')?.problems.join() ?? '', /front-proxy-ca/)
      assert.deepEqual(lines.get('admin.conf')?.problems, ['it is missing'])
    })

    it('show what has expired', async () => {
      await ensure()
      clock.advance(400 * DAY)
      const line = (await inspect()).get('apiserver')
      assert.match(line?.problems.join() ?? '', /expired/)
      assert.ok((line?.residual ?? 0) < 0)
    })

    it('show what is managed elsewhere', async () => {
      await ensure()
      await rm(join(folder(), 'ca.key'))
      const lines = await inspect()
      assert.equal(lines.get('ca')?.externallyManaged, true)
      assert.equal(lines.get('apiserver')?.externallyManaged, true)
    })
  })
})
