import assert from 'node:assert/strict'
import {appendFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {emptyRecord, recordIssued} from '../../../src/controllers/approval/node-record.ts'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {
  certificatesNamed,
  certificatesOfKey,
  certificatesOfNode,
  isCurrent,
  lastEnds,
} from '../../../src/control-plane/revocation/known-certificates.ts'
import {TrustError} from '../../../src/errors.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {sign, submit} from '../../controllers/approval/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {useTemporaryFolder} from '../../pki/support.ts'

const DAY = 86_400_000
const PIN = `sha256:${'ab'.repeat(32)}`
const OLD = 'an-old-request'

describe('certificates that can be revoked', () => {
  const folder = useTemporaryFolder()
  let server: TestServer
  let admin: ApiClient
  let log = ''
  const warnings: string[] = []
  const sources = (more = {}) => ({
    client: admin,
    log,
    warn: (line: string) => warnings.push(line),
    ...more,
  })

  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    const keys = await generateKeys('ECDSA-P256')
    await submit(admin, {name: 'csr-1', commonName: 'system:node:one', keys})
    await sign(server, admin, 'csr-1', {keys, lifetime: DAY, clock: systemClock})
    await submit(admin, {name: 'pending', commonName: 'system:node:one'})
  })
  after(() => server.stop())
  beforeEach(async () => {
    log = join(folder(), 'issuance.log')
    const written = new FileIssuanceLog(log, systemClock)
    const about: Omit<Issuance, 'request'> = {
      decision: 'issued',
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      uid: 'u',
      requester: 'system:bootstrap:abcdef',
      subject: 'O=system:nodes, CN=system:node:one',
      names: {dns: [], ips: [], emails: [], uris: []},
      issuer: 'CN=kubernetes',
      notBefore: new Date().toISOString(),
    }
    const notAfter = new Date(Date.now() + DAY).toISOString()
    const commonName = 'system:node:one'
    const fingerprint = 'cd'.repeat(32)
    await written.append({
      ...about,
      request: OLD,
      commonName,
      pin: PIN,
      serial: 'f1',
      fingerprint,
      notAfter,
    })
    // As an earlier version wrote it, and long expired.
    const expired = new Date(Date.now() - DAY).toISOString()
    await written.append({
      ...about,
      request: 'older',
      serial: 'f2',
      fingerprint: 'ef',
      notAfter: expired,
    })
    await written.append({...about, decision: 'refused', request: OLD, reason: 'no'})
    await written.close()
  })

  const serials = (found: {serial?: string}[]) => found.map(({serial = ''}) => serial)

  it('are found by the name of a request that exists, with the others of the same user', async () => {
    const {named, others} = await certificatesNamed('csr-1', sources())
    assert.equal(named.length, 1)
    assert.deepEqual(
      [named[0]?.user, named[0]?.groups, named[0]?.request],
      ['system:node:one', ['system:nodes'], 'csr-1'],
    )
    assert.deepEqual(serials(others), ['f1', 'f2'])
  })

  it('are found in the log by the name of a request that was deleted', async () => {
    const {named} = await certificatesNamed(OLD, sources())
    assert.deepEqual(serials(named), ['f1'])
    assert.equal(named[0]?.pin, PIN)
    assert.deepEqual((await certificatesNamed(OLD, sources({log: undefined}))).named, [])
  })

  it('are found by their serial number, in any usual form', async () => {
    for (const text of ['f1', 'F1', '00:F1']) {
      assert.deepEqual(serials((await certificatesNamed(text, sources())).named), ['f1'])
    }
    assert.deepEqual((await certificatesNamed('no such name', sources())).named, [])
  })

  it('are found by their node, also in lines of earlier versions, with the key of its record', async () => {
    const found = await certificatesOfNode('one', sources())
    assert.equal(found.length, 3)
    assert.deepEqual(
      found.map((one) => isCurrent(one, new Date())),
      [true, true, false],
    )
    const now = new Date(Math.floor(Date.now() / 1000) * 1000)
    const issued = {pin: PIN, notBefore: now, notAfter: new Date(now.getTime() + DAY)}
    const record = recordIssued(emptyRecord('two'), issued, now) ?? assert.fail()
    await admin.configMaps.create(record)
    const [recorded, ...more] = await certificatesOfNode('two', sources())
    assert.deepEqual([recorded?.user, recorded?.pin, more], ['system:node:two', PIN, []])
  })

  it('are found by their node with the key that it had before its newest certificate, until that one was in use', async () => {
    const now = new Date(Math.floor(Date.now() / 1000) * 1000)
    const times = {notBefore: now, notAfter: new Date(now.getTime() + DAY)}
    const other = `sha256:${'11'.repeat(32)}`
    const first = recordIssued(emptyRecord('three'), {...times, pin: other}, now)
    const renewedWith = {pin: other, credential: undefined}
    const later = {...times, notBefore: new Date(now.getTime() + 1000)}
    const renewed = recordIssued(first ?? assert.fail(), {...later, pin: PIN, renewedWith}, now)
    await admin.configMaps.create(renewed ?? assert.fail())
    const found = await certificatesOfNode('three', sources())
    assert.deepEqual(found.map(({pin}) => pin).sort(), [PIN, other].sort())
  })

  it('are found without the record of a node if the caller may not read it', async () => {
    const forbidden = new TrustError('FORBIDDEN', 'may not get configmaps')
    const configMaps = {...admin.configMaps, find: () => Promise.reject(forbidden)}
    const client = {csrs: admin.csrs, configMaps} as unknown as ApiClient
    assert.deepEqual(serials(await certificatesOfNode('one', sources({client}))).length, 3)
    assert.match(warnings.join(), /cannot be read: may not get configmaps/)
  })

  it('are those of a key, or the key alone', async () => {
    assert.deepEqual(serials(await certificatesOfKey(PIN, sources())), ['f1'])
    const unknown = `sha256:${'00'.repeat(32)}`
    assert.deepEqual(await certificatesOfKey(unknown, sources()), [{pin: unknown}])
  })

  it('say when the last one of a key ends, if the whole log can be read', async () => {
    const ends = (await lastEnds(sources())) ?? assert.fail()
    assert.ok((ends(PIN)?.getTime() ?? 0) > Date.now())
    // The expired line of an earlier version may be of any key.
    assert.ok((ends('sha256:other')?.getTime() ?? Infinity) < Date.now())
    assert.equal(await lastEnds(sources({log: undefined})), undefined)
    await appendFile(log, 'half a line')
    assert.equal(await lastEnds(sources()), undefined)
  })
})
