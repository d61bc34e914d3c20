import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {verifyClientCertificate} from '../../src/pki/client-identity.ts'
import {OID} from '../../src/pki/oids.ts'
import {verifyChain} from '../../src/pki/verify.ts'
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
  const reasonOf = (...args: Parameters<typeof verdictOn>) => {
    const verdict = verdictOn(...args)
    return verdict.ok ? 'accepted' : verdict.reason
  }
  const leafWith = (wish: Wish = {}) => make({by: root, extendedUsages: [CLIENT_AUTH], ...wish})

  it('takes the name, the groups in order and the credential from the certificate', async () => {
    const leaf = await leafWith({name: [{O: ['b']}, {CN: ['jane']}, {O: ['a']}, {O: ['b']}]})
    assert.deepEqual(verdictOn(leaf), {
      ok: true,
      identity: {name: 'jane', groups: ['b', 'a', 'b']},
      credentialId: `X509SHA256=${createHash('sha256').update(leaf.der).digest('hex')}`,
      fingerprint: leaf.certificate.fingerprint,
      notBefore: after(-1),
      notAfter: after(1),
    })
  })

  it('has no identity without a common name', async () => {
    const verdict = verdictOn(await leafWith({name: 'O=nobody'}))
    assert.ok(verdict.ok)
    assert.equal(verdict.identity, undefined)
  })

  it('takes the UID where there is one', async () => {
    const verdict = verdictOn(
      await leafWith({name: [{CN: ['jane']}, {[OID.kubernetesUid]: ['u1']}]}),
    )
    assert.ok(verdict.ok)
    assert.deepEqual(verdict.identity, {name: 'jane', groups: [], uid: 'u1'})
  })

  it('refuses a UID that is empty, or there twice', async () => {
    const uid = (value: string) => ({[OID.kubernetesUid]: [value]})
    assert.match(reasonOf(await leafWith({name: [{CN: ['jane']}, uid('')]})), /empty/)
    assert.match(
      reasonOf(await leafWith({name: [{CN: ['jane']}, uid('a'), uid('b')]})),
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
      assert.equal(reasonOf(leaf), 'accepted')
    })
  }

  it('refuses certificates that are for servers only', async () => {
    assert.match(
      reasonOf(await leafWith({extendedUsages: [SERVER_AUTH]})),
      /not meant for "client auth"/,
    )
  })

  it('refuses certificates before and after their time', async () => {
    const leaf = await leafWith()
    assert.match(reasonOf(leaf, {now: after(2)}), /expired/)
    assert.match(reasonOf(leaf, {now: after(-2)}), /not valid before/)
  })

  it('refuses certificates whose CA has expired', async () => {
    assert.match(reasonOf(await leafWith({notAfter: after(200)}), {now: after(150)}), /CA.*expired/)
  })

  it('refuses certificates that sign themselves', async () => {
    assert.match(reasonOf(await make({extendedUsages: [CLIENT_AUTH]})), /unknown authority/)
  })

  it('refuses another CA of the same name', async () => {
    const impostor = await makeAuthority('root')
    assert.match(reasonOf(await make({by: impostor})), /unknown authority/)
  })

  it('finds the right one among CAs of the same name, as during a rotation', async () => {
    const next = await makeAuthority('root')
    assert.equal(reasonOf(await make({by: next}), {roots: [root, next]}), 'accepted')
    assert.equal(reasonOf(await leafWith(), {roots: [next, root]}), 'accepted')
  })

  it('refuses bytes that are no certificate', () => {
    assert.match(reasonOf({...root, der: Buffer.from('nothing')}), /cannot be read/)
  })

  it('refuses extensions that it must understand and does not', async () => {
    const critical = new Extension('1.2.3.4', true, Buffer.from('0500', 'hex'))
    const optional = new Extension('1.2.3.4', false, Buffer.from('0500', 'hex'))
    assert.match(reasonOf(await leafWith({extensions: [critical]})), /1\.2\.3\.4/)
    assert.equal(reasonOf(await leafWith({extensions: [optional]})), 'accepted')
  })

  it('refuses signatures by SHA-1', async () => {
    assert.match(reasonOf(await leafWith({hash: 'SHA-1'})), /unknown authority/)
  })

  describe('through intermediate CAs', () => {
    it('uses what the client presents, in any order', async () => {
      const upper = await makeAuthority('upper', {by: root})
      const lower = await makeAuthority('lower', {by: upper})
      const leaf = await make({by: lower, name: 'CN=jane'})
      assert.equal(reasonOf(leaf, {between: [lower, upper]}), 'accepted')
      assert.equal(reasonOf(leaf, {between: [root, upper, lower]}), 'accepted')
      assert.match(reasonOf(leaf, {between: [lower]}), /unknown authority/)
    })

    it('is valid no longer than the whole chain', async () => {
      const between = await makeAuthority('between', {by: root, notAfter: after(0.5)})
      const verdict = verdictOn(await make({by: between}), {between: [between]})
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
        assert.match(reasonOf(await make({by: between}), {between: [between]}), reason)
      })
    }

    it('refuses more CAs than a path length allows', async () => {
      const narrow = await makeAuthority('narrow', {pathLength: 0})
      const between = await makeAuthority('between', {by: narrow})
      assert.equal(reasonOf(await make({by: narrow}), {roots: [narrow]}), 'accepted')
      assert.match(
        reasonOf(await make({by: between}), {roots: [narrow], between: [between]}),
        /longer than a CA allows/,
      )
    })

    it('ends on CAs that sign each other, however many are presented', async () => {
      const keys = (await makeAuthority('loop')).keys
      const loops = await Promise.all(
        Array.from({length: 40}, () => makeAuthority('loop', {keys, by: root})),
      )
      const crossed = await Promise.all(loops.map((one) => makeAuthority('loop', {keys, by: one})))
      const leaf = await make({by: crossed[0] ?? root})
      const started = process.cpuUsage().user
      assert.notEqual(reasonOf(leaf, {between: crossed}), 'accepted')
      assert.ok(process.cpuUsage().user - started < 2_000_000)
    })
  })

  it('checks servers by the same rules', async () => {
    const leaf = await make({by: root, extendedUsages: [SERVER_AUTH]})
    const options = {roots: [root.certificate], now: NOW}
    assert.equal(verifyChain(leaf.certificate, {...options, usage: 'server auth'}).ok, true)
    assert.equal(verifyChain(leaf.certificate, {...options, usage: 'client auth'}).ok, false)
  })
})
