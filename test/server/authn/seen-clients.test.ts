import assert from 'node:assert/strict'
import {
  SeenClients,
  type SeenCall,
  type SeenCertificate,
} from '../../../src/server/authn/seen-clients.ts'
import {HOUR, MINUTE, NOW} from './support.ts'

const PIN = `sha256:${'a'.repeat(64)}`
const ANN = {name: 'ann', groups: ['people']}

const certificate = (wishes: Partial<SeenCertificate> = {}): SeenCertificate => ({
  fingerprint: 'f1',
  issuerPin: PIN,
  serial: '17',
  notAfter: new Date(NOW.getTime() + HOUR),
  ...wishes,
})

const at = (minutes: number, wishes: Partial<SeenCall> = {}): SeenCall => ({
  now: new Date(NOW.getTime() + minutes * MINUTE),
  userAgent: 'kubectl/v1.36',
  remoteAddress: '192.0.2.1',
  ...wishes,
})

describe('SeenClients', () => {
  it('keeps the first time, and of the last request the time, the user agent and the address', () => {
    const seen = new SeenClients()
    seen.note(ANN, certificate(), at(1))
    seen.note(ANN, certificate(), at(5, {userAgent: 'curl/8', remoteAddress: '192.0.2.9'}))
    assert.deepEqual(seen.list(), {
      dropped: 0,
      forgotten: [],
      clients: [
        {
          fingerprint: 'f1',
          issuerPin: PIN,
          user: 'ann',
          groups: ['people'],
          serial: '17',
          userAgent: 'curl/8',
          address: '192.0.2.9',
          firstSeen: '2026-01-01T00:01:00.000Z',
          lastSeen: '2026-01-01T00:05:00.000Z',
          notAfter: '2026-01-01T01:00:00.000Z',
        },
      ],
    })
  })

  it('has an entry for each certificate of a user, the last seen first', () => {
    const seen = new SeenClients()
    seen.note(ANN, certificate({serial: 'old'}), at(1))
    seen.note(ANN, certificate({fingerprint: 'f2', serial: 'new'}), at(2))
    const {clients} = seen.list()
    assert.deepEqual(
      clients.map(({serial}) => serial),
      ['new', 'old'],
    )
  })

  it('follows a certificate that now depends on another CA, and keeps its first time', () => {
    const seen = new SeenClients()
    seen.note(ANN, certificate(), at(1))
    seen.note(ANN, certificate({issuerPin: 'sha256:other'}), at(2))
    const [client, ...more] = seen.list().clients
    assert.deepEqual(more, [])
    assert.equal(client?.issuerPin, 'sha256:other')
    assert.equal(client.firstSeen, '2026-01-01T00:01:00.000Z')
  })

  it('drops the least recently seen and counts it', () => {
    const seen = new SeenClients(2)
    const note = (name: string, minutes: number) =>
      seen.note({name, groups: []}, certificate({fingerprint: name, serial: name}), at(minutes))
    note('a', 1)
    note('b', 1)
    note('a', 2)
    note('c', 3)
    const {dropped, forgotten, clients} = seen.list()
    assert.equal(dropped, 1)
    const lastSeen = '2026-01-01T00:01:00.000Z'
    assert.deepEqual(forgotten, [{issuerPin: PIN, count: 1, lastSeen}])
    assert.deepEqual(
      clients.map(({serial}) => serial),
      ['c', 'a'],
    )
  })

  it('forgets expired certificates first, uncounted: nobody depends on them', () => {
    const seen = new SeenClients(2)
    const notAfter = new Date(NOW.getTime() + 2 * MINUTE)
    seen.note({name: 'bob', groups: []}, certificate({serial: 'valid'}), at(0))
    seen.note(ANN, certificate({fingerprint: 'f2', serial: 'expired', notAfter}), at(1))
    seen.note(ANN, certificate({fingerprint: 'f3', serial: 'new'}), at(3))
    const {dropped, clients} = seen.list()
    assert.equal(dropped, 0)
    assert.deepEqual(
      clients.map(({serial}) => serial),
      ['new', 'valid'],
    )
  })

  it('counts an old certificate that it forgets although its user came back with another one', () => {
    const seen = new SeenClients(2)
    const bob = {name: 'bob', groups: []}
    seen.note(ANN, certificate({fingerprint: 'f2', serial: 'old'}), at(1))
    seen.note(bob, certificate({serial: 'other'}), at(1.5))
    seen.note(ANN, certificate({fingerprint: 'f3', serial: 'new'}), at(2))
    assert.equal(seen.list().forgotten[0]?.count, 1)
  })

  it('keeps others, and nodes that it has known for long, when a flood of new nodes comes', () => {
    const seen = new SeenClients(160)
    const notAfter = new Date(NOW.getTime() + 24 * HOUR)
    const note = (name: string, minutes: number) =>
      seen.note({name, groups: []}, certificate({fingerprint: name, notAfter}), at(minutes))
    note('ann', 0)
    note('system:node:settled', 1)
    note('system:node:settled', 110)
    for (let index = 0; index < 1000; index++) note(`system:node:flood-${index}`, 111)
    const names = seen.list().clients.map(({user}) => user)
    assert.equal(names.length, 160)
    assert.ok(names.includes('ann'))
    assert.ok(names.includes('system:node:settled'))
    assert.equal(seen.list().dropped, 842)
  })

  it('lets a user with many certificates push out only their own', () => {
    const seen = new SeenClients(1000)
    seen.note({name: 'bob', groups: []}, certificate(), at(0))
    for (let index = 0; index < 100; index++)
      seen.note(ANN, certificate({fingerprint: `ann-${index}`}), at(1))
    const {clients, dropped} = seen.list()
    assert.equal(clients.filter(({user}) => user === 'ann').length, 64)
    assert.equal(clients.filter(({user}) => user === 'bob').length, 1)
    assert.equal(dropped, 36)
  })

  it('lets every pod of one account have its own entry', () => {
    const seen = new SeenClients(1000)
    for (let index = 0; index < 100; index++)
      seen.note(ANN, certificate({fingerprint: `f${index}`, holder: `pod a/p${index}`}), at(1))
    assert.equal(seen.list().clients.length, 100)
  })

  it('holds no more than 16,384 clients and no long text of a caller', () => {
    const seen = new SeenClients()
    const long = 'x'.repeat(10_000)
    const identity = {name: long, groups: new Array<string>(100).fill(long)}
    for (let index = 0; index < 16_390; index++) {
      const call = at(0, {userAgent: long, remoteAddress: long})
      const name = long.slice(0, 400) + String(index)
      seen.note({...identity, name: `${index}${name}`}, certificate({fingerprint: name}), call)
    }
    const {dropped, clients} = seen.list()
    assert.equal(clients.length, 16_384)
    assert.equal(dropped, 6)
    const [first] = clients
    assert.equal(first?.userAgent.length, 128)
    assert.equal(first.address.length, 64)
    assert.equal(first.user.length, 320)
    assert.equal(first.groups.length, 16)
    assert.ok(first.groups.every((group) => group.length === 128))
  })

  it('knows again what it stored, and goes on from there', () => {
    const earlier = new SeenClients(1)
    earlier.note(ANN, certificate({fingerprint: 'f0'}), at(0))
    earlier.note(ANN, certificate(), at(1))
    const seen = new SeenClients()
    seen.restore(earlier.list())
    assert.deepEqual(seen.list(), earlier.list())
    seen.note(ANN, certificate(), at(9))
    const [client] = seen.list().clients
    assert.equal(client?.firstSeen, '2026-01-01T00:01:00.000Z')
    assert.equal(client.lastSeen, '2026-01-01T00:09:00.000Z')
  })
})
