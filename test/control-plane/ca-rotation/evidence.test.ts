import assert from 'node:assert/strict'
import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {dependentsOn} from '../../../src/control-plane/ca-rotation/dependents.ts'
import {readSeenEverywhere} from '../../../src/control-plane/ca-rotation/evidence.ts'
import {
  ISSUED_PATH,
  issuedClientsReader,
  readIssuedClients,
} from '../../../src/control-plane/issued-clients.ts'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {identityOf} from '../../../src/control-plane/plane-storage.ts'
import {leaseNameOf} from '../../../src/control-plane/server-identity.ts'
import {TrustError} from '../../../src/errors.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {silent, STARTED} from './support.ts'

const NOW = new Date('2026-02-10T00:00:00Z')
const clock = {now: () => NOW}
const NOTHING = {dropped: 0, forgotten: [], clients: []}
const SEEN_CLIENT = {
  fingerprint: 'f1',
  issuerPin: 'a',
  user: 'mike',
  groups: [],
  serial: '1',
  userAgent: 'kubectl',
  address: '10.0.0.1',
  notAfter: '2027-01-01T00:00:00.000Z',
}
const SEEN = {...NOTHING, since: '2026-01-01T00:00:00Z', tokens: NOTHING}
const JOURNAL = {
  ...STARTED,
  units: [
    {
      id: 'client-ca',
      old: {pin: 'a', fingerprint: 'old'},
      new: {pin: 'b', fingerprint: 'new'},
    },
  ],
}

const line = (user: string, day: number, issuerFingerprint = 'old'): Issuance => ({
  decision: 'issued',
  signer: 'kubernetes.io/kube-apiserver-client',
  request: user,
  uid: `${user}-${day}`,
  requester: 'admin',
  subject: `CN=${user}`,
  commonName: user,
  names: {dns: [], ips: [], emails: [], uris: []},
  serial: '1',
  fingerprint: `${user} ${day}`,
  issuerFingerprint,
  notBefore: `2026-01-0${day}T00:00:00.000Z`,
  notAfter: '2027-01-01T00:00:00.000Z',
})

describe('what the servers of a control plane have issued', () => {
  let fixture: PlaneFixture
  let log: FileIssuanceLog
  /** Of the other server; absent: it cannot be reached. */
  let other: Record<string, unknown> | undefined
  let own: object
  /** Of the servers that there have ever been, by their Leases. */
  let lists: Record<string, string>
  let heads: {server: string; time: string}[]

  beforeEach(async () => {
    fixture = await planeFixture({etcdServers: ['http://127.0.0.1:1']})
    await mkdir(join(fixture.dir, 'logs'))
    log = new FileIssuanceLog(join(fixture.dir, 'logs', 'issuance.log'), clock)
    await log.append(line('mike', 1))
    other = {
      '/trustadm/seen-clients': SEEN,
      [ISSUED_PATH]: {
        server: 'two',
        certificates: [{...line('anna', 2), user: 'anna'}],
        more: [],
      },
    }
    own = SEEN
    lists = {}
    heads = [
      {server: 'one', time: NOW.toISOString()},
      {server: 'two', time: NOW.toISOString()},
    ]
  })
  afterEach(async () => {
    await log.close()
    await fixture.remove()
  })

  const hash = 'a'.repeat(64)
  const lease = {
    metadata: {name: 'other', annotations: {'trustadm.io/address': 'https://127.0.0.1:2'}},
    spec: {renewTime: NOW.toISOString()},
  }
  const documents = (of: Record<string, unknown> | undefined) => ({
    raw: (path: string) => {
      const found = of?.[path]
      if (found !== undefined) return Promise.resolve(JSON.stringify(found))
      return Promise.reject(new TrustError('NOT_FOUND', 'no such document'))
    },
    close: () => Promise.resolve(),
  })
  const read = () => {
    const annotation = JSON.stringify(heads.map((one) => ({chain: hash, hash, size: 1, ...one})))
    const signers = {metadata: {annotations: {'trustadm.io/issuance-heads': annotation}}}
    const client = {
      ...documents({'/trustadm/seen-clients': own}),
      configMaps: {find: () => Promise.resolve({data: lists})},
      leases: {
        list: () => Promise.resolve({items: [lease]}),
        find: () => Promise.resolve(signers),
      },
    } as unknown as ApiClient
    const reach = () =>
      other
        ? Promise.resolve(documents(other) as unknown as ApiClient)
        : Promise.reject(new Error('away'))
    return readSeenEverywhere(fixture.context.plane, client, {clock, warn: silent, reach})
  }
  const dependents = async (unseenFor?: number) => {
    const evidence = {nodes: [], ...(await read())}
    const found = dependentsOn(JOURNAL, evidence, {
      on: 'old',
      now: NOW,
      own: new Set(),
      unseenFor,
      ignored: ['replaced-here'],
    })
    return found.map(({kind, name}) => `${kind} ${name}`)
  }

  it('names who got a certificate at another server and was never seen', async () => {
    assert.deepEqual(await dependents(), ['issued anna', 'issued mike'])
  })

  it('names a certificate although its user has got another one since, here or at another server', async () => {
    await log.append(line('mike', 2))
    const certificates = [{...line('mike', 3, 'new'), user: 'mike'}]
    Object.assign(other ?? {}, {[ISSUED_PATH]: {server: 'two', certificates, more: []}})
    assert.deepEqual(await dependents(), ['issued mike', 'issued mike'])
  })

  it('takes what several servers have seen of a certificate for one', async () => {
    const [early, late] = ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z']
    const client = (lastSeen: string) => ({...SEEN_CLIENT, firstSeen: lastSeen, lastSeen})
    own = {...SEEN, clients: [client(late)]}
    Object.assign(other ?? {}, {'/trustadm/seen-clients': {...SEEN, clients: [client(early)]}})
    const {seen} = await read()
    assert.deepEqual(seen?.clients, [{...SEEN_CLIENT, firstSeen: early, lastSeen: late}])
  })

  it('says so if a server has signed and its log cannot be read', async () => {
    other = undefined
    assert.deepEqual((await read()).unread, [{server: 'two', time: NOW.toISOString()}])
    const found = await dependents()
    assert.ok(found.includes('forgotten forgotten-certificates'), found.join())
  })

  it('says so for a server that is off, or of an earlier version', async () => {
    heads.push({server: 'three', time: '2026-02-01T00:00:00Z'})
    assert.deepEqual((await read()).unread, [{server: 'three', time: '2026-02-01T00:00:00Z'}])
    const list = {server: 'two', certificates: []}
    Object.assign(other ?? {}, {[ISSUED_PATH]: list})
    assert.equal((await read()).unread.length, 2)
    delete other?.[ISSUED_PATH]
    assert.equal((await read()).unread.length, 2)
    const week = 7 * 86_400_000
    heads = [{server: 'three', time: '2026-02-01T00:00:00Z'}]
    assert.deepEqual(await dependents(week), [])
  })

  it('names a server that is off, and whose list only its machine has', async () => {
    const list = (host: string, time: string) => JSON.stringify({host, time})
    const time = '2026-02-05T00:00:00.000Z'
    lists = {
      other: list('two', NOW.toISOString()),
      [leaseNameOf(identityOf(fixture.context.plane))]: list('one', NOW.toISOString()),
      off: list('three', time),
    }
    const {stopped} = await read()
    assert.deepEqual(stopped, [{name: 'off', host: 'three', time}])
    const evidence = {nodes: [], ...(await read())}
    const found = (unseenFor?: number, notBefore = '2026-01-01T00:00:00.000Z') => {
      const units = JOURNAL.units.map((one) => ({...one, old: {...one.old, notBefore}}))
      const options = {on: 'old', now: NOW, own: new Set<string>(), unseenFor} as const
      return dependentsOn({...JOURNAL, units}, evidence, options)
        .filter(({name}) => name === 'forgotten-clients')
        .map(({reasons}) => reasons.join())
    }
    assert.deepEqual(found(), [
      `the list of clients of off on three cannot be read: it is off since ${time}; start it`,
    ])
    assert.deepEqual(found(86_400_000), [])
    assert.deepEqual(found(undefined, '2026-02-06T00:00:00.000Z'), [])
  })

  it('is read again by a server only if there is a new line, also of a command', async () => {
    const {plane} = fixture.context
    const list = issuedClientsReader(plane, clock, silent)
    const first = await list()
    assert.equal(await list(), first)
    await log.append(line('mike', 2, 'new'))
    await log.append(line('anna', 2))
    assert.deepEqual(await list(), await readIssuedClients(plane, clock, silent))
    const {certificates} = await list()
    assert.deepEqual(
      certificates.map(({user, issuerFingerprint}) => `${user} ${issuerFingerprint}`),
      ['mike old', 'mike new', 'anna old'],
    )
  })

  it('lists what is not expired, at most 64 of one user, and counts the rest', async () => {
    const {plane} = fixture.context
    for (let index = 0; index < 70; index++)
      await log.append({...line('many', 1), fingerprint: String(index)})
    await log.append({...line('over', 1), notAfter: '2026-02-01T00:00:00.000Z'})
    const {certificates, more} = await readIssuedClients(plane, clock, silent)
    const users = certificates.map(({user}) => user)
    assert.deepEqual(
      [users.length, users.includes('mike'), users.includes('over')],
      [65, true, false],
    )
    assert.deepEqual(more, [{issuerFingerprint: 'old', count: 6}])
  })
})
