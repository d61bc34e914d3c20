import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {createServer as createPlainServer, type AddressInfo} from 'node:net'
import {join} from 'node:path'
import {createServer, type Server} from 'node:tls'
import {
  membersBehind,
  requireCaOfEtcd,
} from '../../../src/control-plane/ca-rotation/etcd-members.ts'
import {newJournal} from '../../../src/control-plane/ca-rotation/new-journal.ts'
import {findAuthority, leafOptions} from '../../../src/control-plane/certificates.ts'
import type {Plane} from '../../../src/control-plane/config/plane.ts'
import {ensureAuthority} from '../../../src/pki/authority.ts'
import {AUTHORITIES, catalogFor} from '../../../src/pki/catalog.ts'
import {renewLeaf} from '../../../src/pki/leaf.ts'
import {systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'

const SERVER = catalogFor({externalEtcd: true}).leaves.filter(({id}) => id === 'etcd-server')

describe('the members of an etcd whose CA rotates', () => {
  let fixtures: PlaneFixture[]
  let member: Server

  /** A control plane with a CA of etcd, and its member's certificate. */
  const withEtcd = async (): Promise<Plane> => {
    const fixture = await planeFixture()
    fixtures.push(fixture)
    const {plane} = fixture.context
    await mkdir(join(plane.dir, 'pki'), {mode: 0o700})
    for (const spec of AUTHORITIES.filter(({id}) => id === 'etcd-ca'))
      await ensureAuthority(join(plane.dir, 'pki'), spec, {}, systemClock)
    const authority = await findAuthority(plane, 'etcd-ca')
    assert.ok(authority)
    for (const leaf of SERVER)
      await renewLeaf(authority, leaf, await leafOptions(plane, leaf), systemClock)
    return plane
  }
  const pairOf = async ({dir}: Plane) => ({
    cert: await readFile(join(dir, 'pki/etcd/server.crt')),
    key: await readFile(join(dir, 'pki/etcd/server.key')),
  })
  const url = () => `https://127.0.0.1:${(member.address() as AddressInfo).port}`

  beforeEach(() => (fixtures = []))
  afterEach(() => Promise.all(fixtures.map((one) => one.remove())))

  it('are behind until they present a certificate of another CA than the old one; those that are off are not', async () => {
    const [old, plane, third] = [await withEtcd(), await withEtcd(), await withEtcd()]
    const bundle = await Promise.all(
      [plane, old].map(({dir}) => readFile(join(dir, 'pki/etcd/ca.crt'), 'utf8')),
    )
    await writeFile(join(plane.dir, 'pki/etcd/ca.crt'), bundle.join(''))
    member = createServer({...(await pairOf(old)), requestCert: true})
    await once(member.listen(0, '127.0.0.1'), 'listening')
    try {
      const etcdServers = [url(), 'https://127.0.0.1:1', 'http://127.0.0.1:1']
      const rotating = {...plane, settings: {...plane.settings, etcdServers}}
      const said = `${url()} presents a certificate of the old CA`
      assert.deepEqual(await membersBehind(rotating), [said])
      for (const now of [plane, third]) {
        member.setSecureContext(await pairOf(now))
        assert.deepEqual(await membersBehind(rotating), [])
      }
    } finally {
      member.close()
    }
  })

  it('are not taken for off if they cannot be asked', async () => {
    const plane = await withEtcd()
    const plain = createPlainServer((socket) => socket.end('not TLS')).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const server = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`
    try {
      const rotating = {...plane, settings: {...plane.settings, etcdServers: [server]}}
      const [said = '', ...more] = await membersBehind(rotating)
      assert.ok(said.startsWith(`${server} cannot be checked: `), said)
      assert.deepEqual(more, [])
    } finally {
      plain.close()
    }
  })

  it('can only be completed by a machine that has the CA', async () => {
    const [plane, other] = [await withEtcd(), await planeFixture()]
    fixtures.push(other)
    const only = {only: ['etcd-ca']}
    const journal = await newJournal(plane, undefined, only, systemClock.now())
    await requireCaOfEtcd(plane, journal)
    await assert.rejects(requireCaOfEtcd(other.context.plane, journal), {code: 'CONFLICT'})
    await requireCaOfEtcd(other.context.plane, {...journal, units: []})
  })
})
