import assert from 'node:assert/strict'
import {generateKeyPairSync} from 'node:crypto'
import {publicKeyOf} from '../../src/pki/certificate.ts'
import {verifyClientCertificate} from '../../src/pki/client-identity.ts'
import {OID} from '../../src/pki/oids.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {isSignedBy} from '../../src/pki/signatures.ts'
import {readPresented, verifyChain} from '../../src/pki/verify.ts'
import {
  ANY_USAGE,
  CLIENT_AUTH,
  Extension,
  SERVER_AUTH,
  SIGNATURE_ONLY,
  make,
  makeAuthority,
  type Made,
  type Wish,
} from './certificate-builder.ts'
import {modulusWith, rsaKeyInfo, withKeyInfo} from './hostile-certificates.ts'
import {DAY, NOW} from './support.ts'

const after = (days: number) => new Date(NOW.getTime() + days * DAY)

describe('verifyClientCertificate', () => {
  let root: Made
  before(async () => {
    root = await makeAuthority('root', {notAfter: after(100)})
  })

  const verdictOn = (leaf: Made, {between = [] as Made[], roots = [root], now = NOW} = {}) =>
    verifyClientCertificate(
      leaf.der,
      between.map(({der}) => der),
      roots.map(({certificate}) => certificate),
      now,
    )
  const reasonOf = async (...args: Parameters<typeof verdictOn>) => {
    const verdict = await verdictOn(...args)
    return verdict.ok ? 'accepted' : verdict.reason
  }
  const leafWith = (wish: Wish = {}) => make({by: root, extendedUsages: [CLIENT_AUTH], ...wish})

  it('takes the name, the groups in order and the credential from the certificate', async () => {
    const leaf = await leafWith({name: [{O: ['b']}, {CN: ['jane']}, {O: ['a']}, {O: ['b']}]})
    assert.deepEqual(await verdictOn(leaf), {
      ok: true,
      identity: {name: 'jane', groups: ['b', 'a', 'b']},
      fingerprint: leaf.certificate.fingerprint,
      issuer: root.certificate.fingerprint,
      issuerPin: pinOf(root.certificate),
      pin: pinOf(leaf.certificate),
      serial: leaf.certificate.serial,
      issuerName: 'CN=root',
      begins: after(-1),
      notBefore: after(-1),
      notAfter: after(1),
    })
  })

  it('names the CA that it depends on: that of the bundle, of several with one name, over an intermediate', async () => {
    const twin = await makeAuthority('root', {notAfter: after(100)})
    const between = await makeAuthority('between', {by: twin})
    const leaf = await leafWith({by: between})
    const verdict = await verdictOn(leaf, {between: [between], roots: [root, twin]})
    assert.equal(verdict.ok && verdict.issuer, twin.certificate.fingerprint)
    assert.equal(verdict.ok && verdict.issuerPin, pinOf(twin.certificate))
  })

  it('names the key of the new CA for its certificates, even if they come with one that the old CA cross-signed', async () => {
    const next = await makeAuthority('next')
    const cross = await makeAuthority('next', {by: root, keys: next.keys})
    const leaf = await leafWith({by: next})
    const verdict = await verdictOn(leaf, {between: [cross], roots: [root, next]})
    assert.equal(verdict.ok && verdict.issuer, root.certificate.fingerprint)
    assert.equal(verdict.ok && verdict.issuerPin, pinOf(next.certificate))
    const old = await verdictOn(leaf, {between: [cross], roots: [root]})
    assert.equal(old.ok && old.issuerPin, pinOf(root.certificate))
  })

  it('has no identity without a common name', async () => {
    const verdict = await verdictOn(await leafWith({name: 'O=nobody'}))
    assert.ok(verdict.ok)
    assert.equal(verdict.identity, undefined)
  })

  it('takes the UID where there is one', async () => {
    const verdict = await verdictOn(
      await leafWith({name: [{CN: ['jane']}, {[OID.kubernetesUid]: ['u1']}]}),
    )
    assert.ok(verdict.ok)
    assert.deepEqual(verdict.identity, {name: 'jane', groups: [], uid: 'u1'})
  })

  it('refuses a UID that is empty, or there twice', async () => {
    const uid = (value: string) => ({[OID.kubernetesUid]: [value]})
    assert.match(await reasonOf(await leafWith({name: [{CN: ['jane']}, uid('')]})), /empty/)
    assert.match(
      await reasonOf(await leafWith({name: [{CN: ['jane']}, uid('a'), uid('b')]})),
      /more than one/,
    )
  })

  for (const [name, extendedUsages] of [
    ['no extended usages', undefined],
    ['any usage', [ANY_USAGE]],
    ['client and server usage', [SERVER_AUTH, CLIENT_AUTH]],
  ] as const) {
    it(`accepts ${name}`, async () => {
      const leaf = await make({
        by: root,
        ...(extendedUsages && {extendedUsages: [...extendedUsages]}),
      })
      assert.equal(await reasonOf(leaf), 'accepted')
    })
  }

  it('refuses certificates that are for servers only', async () => {
    assert.match(
      await reasonOf(await leafWith({extendedUsages: [SERVER_AUTH]})),
      /not meant for "client auth"/,
    )
  })

  it('refuses certificates before and after their time', async () => {
    const leaf = await leafWith()
    assert.match(await reasonOf(leaf, {now: after(2)}), /expired/)
    assert.match(await reasonOf(leaf, {now: after(-2)}), /not valid before/)
  })

  it('refuses certificates whose CA has expired', async () => {
    assert.match(
      await reasonOf(await leafWith({notAfter: after(200)}), {now: after(150)}),
      /CA.*expired/,
    )
  })

  it('refuses certificates that sign themselves', async () => {
    assert.match(await reasonOf(await make({extendedUsages: [CLIENT_AUTH]})), /unknown authority/)
  })

  it('refuses another CA of the same name', async () => {
    const impostor = await makeAuthority('root')
    assert.match(await reasonOf(await make({by: impostor})), /unknown authority/)
  })

  it('finds the right one among CAs of the same name, as during a rotation', async () => {
    const next = await makeAuthority('root')
    assert.equal(await reasonOf(await make({by: next}), {roots: [root, next]}), 'accepted')
    assert.equal(await reasonOf(await leafWith(), {roots: [next, root]}), 'accepted')
  })

  it('refuses bytes that are no certificate', async () => {
    assert.match(await reasonOf({...root, der: Buffer.from('nothing')}), /cannot be read/)
  })

  it('refuses extensions that it must understand and does not', async () => {
    const critical = new Extension('1.2.3.4', true, Buffer.from('0500', 'hex'))
    const optional = new Extension('1.2.3.4', false, Buffer.from('0500', 'hex'))
    assert.match(await reasonOf(await leafWith({extensions: [critical]})), /1\.2\.3\.4/)
    assert.equal(await reasonOf(await leafWith({extensions: [optional]})), 'accepted')
  })

  const access = (...parts: string[]) => Buffer.from(parts.join(''), 'hex')
  const malformed: [name: string, oid: string, critical: boolean, value: Buffer][] = [
    ['a critical subject key identifier', OID.subjectKeyId, true, access('04020102')],
    ['a critical authority key identifier', OID.authorityKeyId, true, access('300480020102')],
    ['critical information access', OID.authorityInfoAccess, true, access('3000')],
    ['information access that is no list', OID.authorityInfoAccess, false, access('0500')],
    [
      'information access without a method',
      OID.authorityInfoAccess,
      false,
      access('3005', '3003', '860161'),
    ],
    [
      'information access that is not ASCII',
      OID.authorityInfoAccess,
      false,
      access('300d', '300b', '06062b0601050507', '8601ff'),
    ],
  ]
  for (const [name, oid, critical, value] of malformed) {
    it(`refuses ${name}, as Go does`, async () => {
      const leaf = await leafWith({extensions: [new Extension(oid, critical, value)]})
      assert.match(await reasonOf(leaf), /cannot be read/)
    })
  }

  it('takes information access that is well-formed', async () => {
    const value = access('300d', '300b', '06062b0601050507', '860161')
    const extensions = [new Extension(OID.authorityInfoAccess, false, value)]
    assert.equal(await reasonOf(await leafWith({extensions})), 'accepted')
  })

  it('refuses signatures by SHA-1', async () => {
    assert.match(await reasonOf(await leafWith({hash: 'SHA-1'})), /unknown authority/)
  })

  describe('through intermediate CAs', () => {
    it('uses what the client presents, in any order', async () => {
      const upper = await makeAuthority('upper', {by: root})
      const lower = await makeAuthority('lower', {by: upper})
      const leaf = await make({by: lower, name: 'CN=jane'})
      assert.equal(await reasonOf(leaf, {between: [lower, upper]}), 'accepted')
      assert.equal(await reasonOf(leaf, {between: [root, upper, lower]}), 'accepted')
      assert.match(await reasonOf(leaf, {between: [lower]}), /unknown authority/)
    })

    it('is valid no longer than the whole chain', async () => {
      const between = await makeAuthority('between', {by: root, notAfter: after(0.5)})
      const verdict = await verdictOn(await make({by: between}), {between: [between]})
      assert.ok(verdict.ok)
      assert.deepEqual(verdict.notAfter, after(0.5))
    })

    const bad: {name: string; wish: Wish; reason: RegExp}[] = [
      {name: 'is not a CA', wish: {isAuthority: false}, reason: /not a CA/},
      {
        name: 'may not sign certificates',
        wish: {keyUsages: SIGNATURE_ONLY},
        reason: /may not sign/,
      },
      {name: 'has expired', wish: {notAfter: after(-0.5)}, reason: /expired/},
      {name: 'is for servers only', wish: {extendedUsages: [SERVER_AUTH]}, reason: /not meant/},
      {
        name: 'has name constraints',
        wish: {extensions: [new Extension(OID.nameConstraints, true, Buffer.from('3000', 'hex'))]},
        reason: /2\.5\.29\.30/,
      },
    ]
    for (const {name, wish, reason} of bad) {
      it(`refuses one that ${name}`, async () => {
        const between = await makeAuthority('between', {by: root, ...wish})
        assert.match(await reasonOf(await make({by: between}), {between: [between]}), reason)
      })
    }

    it('refuses more CAs than a path length allows', async () => {
      const narrow = await makeAuthority('narrow', {pathLength: 0})
      const between = await makeAuthority('between', {by: narrow})
      assert.equal(await reasonOf(await make({by: narrow}), {roots: [narrow]}), 'accepted')
      assert.match(
        await reasonOf(await make({by: between}), {roots: [narrow], between: [between]}),
        /longer than a CA allows/,
      )
    })

    it('ends on CAs that sign each other', async () => {
      const {keys} = await makeAuthority('loop')
      const loops = await Promise.all(
        Array.from({length: 3}, () => makeAuthority('loop', {keys, by: root})),
      )
      const crossed = await Promise.all(loops.map((one) => makeAuthority('loop', {keys, by: one})))
      const leaf = await make({by: crossed[0] ?? root, notAfter: after(-0.5)})
      assert.notEqual(await reasonOf(leaf, {between: [...loops, ...crossed]}), 'accepted')
      const foreign = await make({name: 'CN=jane', by: await makeAuthority('loop')})
      assert.notEqual(await reasonOf(foreign, {between: [...loops, ...crossed]}), 'accepted')
    })
  })

  describe('of a stranger who wants to keep the server busy', () => {
    const stranger = (publicKeyInfo: Buffer) =>
      withKeyInfo(publicKeyInfo, {subject: 'stranger', issuer: 'stranger'})
    const refusalOf = async (ders: Buffer[]) => {
      const [leaf = Buffer.alloc(0), ...others] = ders
      const verdict = await verifyClientCertificate(leaf, others, [root.certificate], NOW)
      return verdict.ok ? 'accepted' : verdict.reason
    }
    const curve = (namedCurve: string) =>
      generateKeyPairSync('ec', {namedCurve}).publicKey.export({type: 'spki', format: 'der'})

    const keys: [name: string, info: () => Buffer, reason: RegExp][] = [
      ['an RSA key of 16384 bits', () => rsaKeyInfo(modulusWith(16_384)), /at most 8192 bits/],
      ['an RSA key of 8193 bits', () => rsaKeyInfo(modulusWith(8193)), /at most 8192 bits/],
      ['an RSA key of 512 bits', () => rsaKeyInfo(modulusWith(512)), /at least 1024 bits/],
      [
        'an exponent as long as its modulus',
        () => rsaKeyInfo(modulusWith(3072), modulusWith(3071)),
        /exponent/,
      ],
      ['a key on P-192', () => curve('prime192v1'), /curve/],
      ['a key on secp256k1', () => curve('secp256k1'), /curve/],
      [
        'a DSA key',
        () =>
          generateKeyPairSync('dsa', {modulusLength: 1024, divisorLength: 160}).publicKey.export({
            type: 'spki',
            format: 'der',
          }),
        /not RSA, ECDSA/,
      ],
    ]
    for (const [name, info, reason] of keys) {
      it(`refuses ${name}, on a leaf and above one, before any signature is checked`, async () => {
        const hostile = stranger(info())
        assert.match(await refusalOf([hostile]), reason)
        const leaf = await leafWith()
        assert.match(await refusalOf([leaf.der, hostile]), reason)
      })
    }

    it('refuses more than eight certificates', async () => {
      const leaf = await leafWith()
      const more = Array.from({length: 8}, () => leaf.der)
      assert.match(await refusalOf([leaf.der, ...more]), /more than 8/)
      assert.equal(await refusalOf([leaf.der, ...more.slice(1)]), 'accepted')
    })

    it('refuses a whole chain if one certificate cannot be read', async () => {
      const leaf = await leafWith()
      assert.match(await refusalOf([leaf.der, Buffer.from('nonsense')]), /cannot be read/)
    })

    it('computes nothing with keys that no CA vouches for', async () => {
      const names = Array.from({length: 8}, (_, index) => `s${index}`)
      const chain = names.map((subject, index) =>
        withKeyInfo(rsaKeyInfo(modulusWith(8192), (1n << 31n) - 1n), {
          subject,
          issuer: names[index + 1] ?? subject,
        }),
      )
      const processorTime = async (work: () => Promise<unknown>) => {
        const start = process.cpuUsage()
        for (let round = 0; round < 20; round++) await work()
        const {user, system} = process.cpuUsage(start)
        return user + system
      }
      const [first, second] = readPresented(chain)
      assert.ok(first && second)
      assert.match(await refusalOf(chain), /unknown authority/)
      const refusal = await processorTime(() => refusalOf(chain))
      const signatures = await processorTime(async () => {
        for (const _ of names) await isSignedBy(first.signed, publicKeyOf(second))
      })
      assert.ok(refusal < signatures / 2, `${refusal} µs, and ${signatures} µs for the signatures`)
    })
  })

  it('checks servers by the same rules', async () => {
    const leaf = await make({by: root, extendedUsages: [SERVER_AUTH]})
    const options = {roots: [root.certificate], now: NOW}
    assert.equal(verifyChain(leaf.certificate, {...options, usage: 'server auth'}).ok, true)
    assert.equal(verifyChain(leaf.certificate, {...options, usage: 'client auth'}).ok, false)
  })
})
