import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {
  certificatesOfNode,
  type KnownCertificate,
} from '../../../src/control-plane/revocation/known-certificates.ts'
import {revokeAll} from '../../../src/control-plane/revocation/revoke-all.ts'
import {listRevocations} from '../../../src/control-plane/revocation/unrevoke.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {approve} from '../../controllers/signing/support.ts'
import {nodeUser, readable, submit} from '../../controllers/approval/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {NOW, fixedClock} from '../../pki/support.ts'

const pin = (letter: string) => `sha256:${letter.repeat(64)}`
const certificate = (letter: string): KnownCertificate => ({
  user: 'system:node:one',
  pin: pin(letter),
  serial: letter,
  issuer: 'CN=kubernetes',
  fingerprint: letter.repeat(64),
  notAfter: new Date(NOW.getTime() + 3_600_000),
})

describe('revoking all certificates of a holder', () => {
  let server: TestServer
  let admin: ApiClient
  const clock = fixedClock()
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  afterEach(() => server.stop())

  const listed = async () =>
    (await listRevocations(admin)).revocations.map((one) => one.serial).sort()
  const all = (rounds: KnownCertificate[][], options = {}) => {
    let round = 0
    const findAgain = () => Promise.resolve(rounds[(round += 1)] ?? rounds.at(-1) ?? [])
    return revokeAll(
      admin,
      {first: rounds[0] ?? [], findAgain},
      {ends: () => undefined, ...options},
      clock,
    )
  }

  it('looks again until nothing new was issued meanwhile', async () => {
    const [a, b, c] = [certificate('a'), certificate('b'), certificate('c')]
    const {revoked, unchanged} = await all([[a], [a, b], [a, b, c], [a, b, c]])
    assert.deepEqual(
      revoked.map(({serial}) => serial),
      ['a', 'b', 'c'],
    )
    assert.deepEqual(unchanged, [])
    assert.deepEqual(await listed(), ['a', 'b', 'c'])
  })

  it('leaves what has expired meanwhile', async () => {
    const expired = {...certificate('b'), notAfter: new Date(NOW.getTime() - 1000)}
    await all([[certificate('a')], [expired]])
    assert.deepEqual(await listed(), ['a'])
  })

  it('looks once in a dry run', async () => {
    const {revoked} = await all([[certificate('a')], [certificate('b')]], {dryRun: true})
    assert.equal(revoked.length, 1)
    assert.deepEqual(await listed(), [])
  })

  it('gives up if there is always another one', async () => {
    let count = 0
    const findAgain = () => Promise.resolve([{...certificate('a'), pin: pinFor((count += 1))}])
    const pinFor = (number: number) => `sha256:${number.toString(16).padStart(64, '0')}`
    await assert.rejects(
      revokeAll(admin, {first: [certificate('a')], findAgain}, {ends: () => undefined}, clock),
      {code: 'CONFLICT'},
    )
  })

  it('has an entry for each certificate of a key, so that requests made with any of them are known', async () => {
    const other = {...certificate('a'), serial: 'a2', fingerprint: 'e'.repeat(64)}
    await all([[certificate('a'), other], []])
    assert.deepEqual(await listed(), ['a', 'a2'])
  })

  it('finds the keys of a node that a certificate may still be issued for', async () => {
    const node = server.clientAs(nodeUser('one'))
    const request = async (client: ApiClient, name: string) => {
      const keys = await generateKeys('ECDSA-P256')
      const csr = await submit(client, {name, commonName: 'system:node:one', keys})
      return {csr, pin: readable(csr).pin}
    }
    const approved = await request(admin, 'approved')
    await approve(admin, approved.csr)
    const own = await request(node, 'undecided')
    await request(admin, 'undecided-of-another')
    const sources = {client: admin, warn: () => undefined}
    const found = await certificatesOfNode('one', sources, {awaitedAt: NOW})
    assert.deepEqual(
      found.map((one) => [one.request, one.pin, one.notAfter?.toISOString()]).sort(),
      [
        ['approved', approved.pin, undefined],
        ['undecided', own.pin, '2026-03-02T12:00:00.000Z'],
      ],
    )
    assert.deepEqual(await certificatesOfNode('one', sources), [])
  })
})
