import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import type {KnownCertificate} from '../../../src/control-plane/revocation/known-certificates.ts'
import {addToList} from '../../../src/control-plane/revocation/list-store.ts'
import {revokeCertificates} from '../../../src/control-plane/revocation/revoke.ts'
import {
  listRevocations,
  unrevokeCertificates,
} from '../../../src/control-plane/revocation/unrevoke.ts'
import {readRevocationList} from '../../../src/controllers/approval/revoked-certificates.ts'
import {BACKDATE} from '../../../src/pki/lifetimes.ts'
import {issueTime, keyRevocation} from '../../../src/trust/revocations.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {NOW, fixedClock} from '../../pki/support.ts'

const NAME = 'trustadm-revoked-certificates'
const HOUR = 3_600_000
const pin = (letter: string) => `sha256:${letter.repeat(64)}`

const certificate = (letter: string, more: Partial<KnownCertificate> = {}): KnownCertificate => ({
  user: `system:node:${letter}`,
  pin: pin(letter),
  serial: `${letter}1`,
  issuer: 'CN=kubernetes',
  fingerprint: letter.repeat(64),
  request: `csr-${letter}`,
  notAfter: new Date(NOW.getTime() + HOUR),
  ...more,
})

describe('revoking certificates', () => {
  let server: TestServer
  let admin: ApiClient
  const clock = fixedClock()
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  afterEach(() => server.stop())

  const revoke = (certificates: KnownCertificate[], options = {}) =>
    revokeCertificates(admin, certificates, {ends: () => undefined, ...options}, clock)
  const idsIn = async (name = NAME) =>
    Object.keys((await admin.configMaps.get({namespace: 'kube-system', name})).data ?? {})

  it('lists the key with what is known about its certificate', async () => {
    const done = await revoke([certificate('a')], {reason: 'stolen'})
    const report = {
      user: 'system:node:a',
      pin: pin('a'),
      serial: 'a1',
      request: 'csr-a',
      expires: '2026-03-01T13:00:00Z',
      revoked: '2026-03-01T12:00:00Z',
      by: 'admin',
      reason: 'stolen',
    }
    assert.deepEqual(done, {revoked: [report], unchanged: []})
    assert.deepEqual(await listRevocations(admin), {revocations: [report], problems: []})
  })

  it('has one entry for a key, until the last of its certificates expires', async () => {
    const later = new Date(NOW.getTime() + 2 * HOUR)
    const {revoked} = await revoke([
      certificate('a'),
      certificate('a', {serial: 'a2', notAfter: later}),
      certificate('a', {serial: 'a3'}),
    ])
    assert.deepEqual(
      revoked.map(({serial, expires}) => [serial, expires]),
      [['a2', '2026-03-01T14:00:00Z']],
    )
  })

  it('keeps the entry of a key until its last certificate expires, named or not', async () => {
    const ends = (one: string) =>
      one === pin('a') ? new Date(NOW.getTime() + 3 * HOUR) : undefined
    const newer = certificate('a', {serial: 'a2', notAfter: new Date(NOW.getTime() + 2 * HOUR)})
    const {revoked} = await revoke([certificate('a'), newer, certificate('b')], {ends})
    assert.equal(revoked[0]?.serial, 'a2')
    const single = await revoke([certificate('a')], {ends, keepKeys: true})
    assert.deepEqual(
      [...revoked, ...single.revoked].map(({expires}) => expires),
      ['2026-03-01T15:00:00Z', '2026-03-01T13:00:00Z', '2026-03-01T13:00:00Z'],
    )
  })

  it('keeps the entry of a key for good if not all of its certificates are known', async () => {
    const {revoked} = await revoke([certificate('a')], {ends: undefined})
    assert.deepEqual(
      revoked.map(({expires}) => expires),
      [null],
    )
  })

  it('lets an entry that is there already stay longer, and never shorter', async () => {
    await revoke([certificate('a'), certificate('b')], {reason: 'first'})
    const later = new Date(NOW.getTime() + 2 * HOUR)
    const {unchanged} = await revoke([certificate('a', {notAfter: later})])
    await revoke([certificate('b')], {ends: undefined})
    await revoke([certificate('b')])
    const {revocations} = await listRevocations(admin)
    assert.deepEqual(revocations.map(({user, expires, reason}) => [user, expires, reason]).sort(), [
      ['system:node:a', '2026-03-01T14:00:00Z', 'first'],
      ['system:node:b', null, 'first'],
    ])
    assert.deepEqual(
      unchanged.map(({expires}) => expires),
      ['2026-03-01T14:00:00Z'],
    )
  })

  it('lists single certificates if the keys are to be kept, or are not known', async () => {
    const {pin: _pin, ...unknown} = certificate('b')
    const {revoked} = await revoke([unknown])
    const kept = await revoke([certificate('a')], {keepKeys: true})
    assert.deepEqual(
      [...revoked, ...kept.revoked].map((one) => [one.pin, one.serial]),
      [
        [null, 'b1'],
        [null, 'a1'],
      ],
    )
    assert.ok((await idsIn()).every((id) => id.startsWith('serial.')))
  })

  it('refuses to keep a key of which no certificate is known', async () => {
    await assert.rejects(revoke([{pin: pin('a')}], {keepKeys: true}), {code: 'USAGE'})
    await assert.rejects(revoke([certificate('a')], {reason: 'x'.repeat(300)}), {code: 'USAGE'})
    assert.deepEqual(await idsIn(), [])
  })

  it('leaves an entry as it is that is there already', async () => {
    await revoke([certificate('a')], {reason: 'first'})
    const {revoked, unchanged} = await revoke([certificate('a'), certificate('b')])
    assert.deepEqual(
      [revoked.map(({user}) => user), unchanged.map(({reason}) => reason)],
      [['system:node:b'], ['first']],
    )
  })

  it('changes nothing in a dry run', async () => {
    const {revoked} = await revoke([certificate('a')], {dryRun: true})
    assert.equal(revoked.length, 1)
    assert.deepEqual(await idsIn(), [])
  })

  it('fills one ConfigMap after the other, and thousands at once', async () => {
    const count = 6000
    const entries = Array.from({length: count}, (_, index) => ({
      id: keyRevocation(`sha256:${index.toString(16).padStart(64, '0')}`),
      user: `system:node:worker-${index}`,
      fingerprint: 'a'.repeat(64),
      serial: 'b'.repeat(32),
      request: 'node-csr-'.padEnd(52, 'x'),
      expires: '2027-01-01T00:00:00Z',
      revoked: '2026-01-01T00:00:00Z',
      by: 'kubernetes-admin',
      reason: 'the image with the token was published',
    }))
    assert.equal((await addToList(admin, entries)).size, count)
    const [first, second] = [await idsIn(), await idsIn(`${NAME}-2`)]
    assert.ok(first.length > 1000 && second.length > 1000)
    const {revocations} = await listRevocations(admin)
    assert.equal(revocations.length, count)
  }).timeout(20_000)

  it('needs few entries for a node that has renewed thousands of times, and leaves none of its certificates', async () => {
    const user = 'system:node:busy'
    const nth = (index: number): KnownCertificate => ({
      ...certificate('a', {user, serial: index.toString(16)}),
      pin: `sha256:${index.toString(16).padStart(64, '0')}`,
      fingerprint: index.toString(16).padStart(64, '0'),
      notBefore: new Date(Date.now() - BACKDATE - index * 60_000),
      notAfter: new Date(Date.now() + (5000 - index) * 60_000),
    })
    const all = Array.from({length: 5000}, (_, index) => nth(index))
    const other = certificate('b')
    const whole = {includes: (one: string) => one === user, spared: () => [nth(4000).pin ?? '']}
    const {revoked} = await revoke([...all, other], {whole, reason: 'stolen'})
    assert.equal((await idsIn()).length, 34)
    const [entry] = revoked.filter(({until}) => until !== undefined)
    assert.deepEqual([entry?.user, entry?.reason, entry?.by], [user, 'stolen', 'admin'])
    const list = await readRevocationList(admin)
    const left = all.filter(
      ({pin: key = '', notBefore}) =>
        !list.findKey(key) && !list.findUser(user, issueTime(notBefore ?? new Date()), key),
    )
    assert.deepEqual(
      left.map(({serial}) => serial),
      [nth(4000).serial],
    )
    assert.equal(list.findUser(user, new Date(Date.now() + 2000)), undefined)
    await assert.rejects(unrevokeCertificates(admin, {names: ['0']}), {
      code: 'CONFLICT',
      message: /everything of "system:node:busy" is revoked/,
    })
    await unrevokeCertificates(admin, {names: [], node: 'busy'})
    assert.equal((await idsIn()).length, 1)
  })

  it('adds to a list that others change at the same time', async () => {
    const letters = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(letters.map((letter) => revoke([certificate(letter)])))
    assert.equal((await idsIn()).length, letters.length)
  })

  describe('and accepting them again', () => {
    beforeEach(() => revoke([certificate('a'), certificate('b'), certificate('c')]))
    const left = async () => (await idsIn()).sort()
    const unrevoke = (targets: object, options = {}) =>
      unrevokeCertificates(admin, {names: [], ...targets}, options)

    it('takes them by request, serial number as openssl prints it, node or key', async () => {
      const {unrevoked} = await unrevoke({names: ['csr-a', '0B:1']})
      assert.deepEqual(
        unrevoked.map(({user}) => user),
        ['system:node:a', 'system:node:b'],
      )
      assert.deepEqual(await left(), [keyRevocation(pin('c'))])
      await unrevoke({node: 'c', pin: pin('c')})
      assert.deepEqual(await left(), [])
    })

    it('changes nothing if one of them is not on the list, or none is named', async () => {
      await assert.rejects(unrevoke({names: ['csr-a', 'unknown']}), {code: 'NOT_FOUND'})
      await assert.rejects(unrevoke({node: 'z'}), {code: 'NOT_FOUND'})
      await assert.rejects(unrevoke({}), {code: 'USAGE'})
      await unrevoke({names: ['csr-a']}, {dryRun: true})
      assert.equal((await left()).length, 3)
    })
  })

  it('says what is wrong with a list that was edited badly', async () => {
    const data = {nonsense: 'x', [keyRevocation(pin('a'))]: 'x'}
    const key = {namespace: 'kube-system', name: NAME}
    await admin.configMaps.patch(key, {data}, {type: 'merge'})
    const {revocations, problems} = await listRevocations(admin)
    assert.deepEqual([revocations.length, revocations[0]?.pin], [1, pin('a')])
    assert.deepEqual(problems, [
      `"nonsense" in ConfigMap ${NAME} names no key or serial number`,
      `the details of "${keyRevocation(pin('a'))}" in ConfigMap ${NAME} are unreadable`,
    ])
  })
})
