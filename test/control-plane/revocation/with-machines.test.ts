import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {withdrawMachines} from '../../../src/control-plane/revocation/with-machines.ts'
import {readRevocationList} from '../../../src/controllers/approval/revoked-certificates.ts'
import {emptyRecord, recordIssued} from '../../../src/controllers/approval/node-record.ts'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import {systemClock} from '../../../src/runtime.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {submit} from '../../controllers/approval/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {useTemporaryFolder} from '../../pki/support.ts'

const DAY = 86_400_000
const pin = (letter: string) => `sha256:${letter.repeat(64)}`
const TOKEN = 'system:bootstrap:abcdef'

describe('withdrawing the machines of a credential', () => {
  const folder = useTemporaryFolder()
  let server: TestServer
  let admin: ApiClient
  let log = ''
  let warnings: string[]
  let written: FileIssuanceLog
  let issued: (letter: string, node: string, requester: string, more?: object) => Promise<unknown>
  beforeEach(async () => {
    warnings = []
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
    log = join(folder(), 'issuance.log')
    written = new FileIssuanceLog(log, systemClock)
    issued = (letter: string, node: string, requester: string, more = {}) =>
      written.append({
        decision: 'issued',
        signer: 'kubernetes.io/kube-apiserver-client-kubelet',
        request: `csr-${letter}`,
        uid: 'u',
        requester,
        subject: `O=system:nodes, CN=system:node:${node}`,
        commonName: `system:node:${node}`,
        names: {dns: [], ips: [], emails: [], uris: []},
        pin: pin(letter),
        issuer: 'CN=kubernetes',
        serial: letter,
        fingerprint: letter.repeat(64),
        notBefore: new Date().toISOString(),
        notAfter: new Date(Date.now() + DAY).toISOString(),
        ...more,
      })
    await issued('a', 'one', TOKEN)
    await issued('b', 'one', 'system:node:one', {credential: `X509SHA256=${'a'.repeat(64)}`})
    await issued('c', 'two', 'system:bootstrap:others')
    await issued('d', 'gone', TOKEN)
    await issued('e', 'old', TOKEN, {notAfter: new Date(Date.now() - DAY).toISOString()})
    for (const name of ['one', 'two', 'old']) await admin.nodes.create({metadata: {name}})
  })
  afterEach(async () => {
    await written.close()
    await server.stop()
  })

  const withdraw = (more = {}, client = admin) =>
    withdrawMachines(
      client,
      {tokenId: 'abcdef'},
      {reason: 'leaked', log, warn: (line) => warnings.push(line), ...more},
      systemClock,
    )
  const isCordoned = async (name: string) =>
    (await admin.nodes.get(name)).spec?.unschedulable === true

  it('revokes what they obtained, also by renewal, and cordons their Nodes', async () => {
    const {certificates, nodes} = await withdraw()
    assert.deepEqual(
      certificates.map((one) => [one.serial, one.reason]),
      [
        ['a', 'leaked'],
        ['b', 'leaked'],
        ['d', 'leaked'],
      ],
    )
    assert.deepEqual(nodes, [
      {name: 'one', cordoned: true},
      {name: 'gone', cordoned: false},
    ])
    assert.deepEqual([await isCordoned('one'), await isCordoned('two')], [true, false])
    assert.deepEqual(warnings, [])
  })

  it('revokes what they obtain meanwhile, and the keys of what they have requested', async () => {
    const keys = await generateKeys('ECDSA-P256')
    const joining = server.clientAs({username: TOKEN, groups: ['system:masters']})
    await submit(joining, {name: 'waiting', commonName: 'system:node:late', keys})
    let writes = 0
    const update: ApiClient['configMaps']['update'] = async (...args) => {
      writes += 1
      // The machine renews between the look at the log and the write.
      const used = {credential: `X509SHA256=${'b'.repeat(64)}`}
      if (writes === 1) await issued('f', 'one', 'system:node:one', used)
      return await admin.configMaps.update(...args)
    }
    const find: ApiClient['configMaps']['find'] = (...args) => admin.configMaps.find(...args)
    const list: ApiClient['configMaps']['list'] = (...args) => admin.configMaps.list(...args)
    const configMaps = {update, find, list}
    const client = Object.assign(Object.create(admin) as ApiClient, {configMaps})
    const {certificates} = await withdraw({}, client)
    assert.deepEqual(
      certificates.map((one) => one.serial ?? one.request),
      ['a', 'b', 'd', 'waiting', 'f'],
    )
  })

  it('needs one entry for all requests of a token that wait, and a short one for each machine, however many there are', async () => {
    const joining = server.clientAs({username: TOKEN, groups: ['system:masters']})
    const keys = await generateKeys('ECDSA-P256')
    for (let index = 0; index < 40; index += 1)
      await submit(joining, {name: `w${index}`, commonName: `system:node:w${index}`, keys})
    for (let index = 0; index < 300; index += 1) {
      const serial = index.toString(16)
      const fingerprint = serial.padStart(64, '0')
      await issued('f', `n${index}`, TOKEN, {serial, fingerprint, pin: `sha256:${fingerprint}`})
    }
    // This machine has joined anew with another token.
    await issued('e', 'n3', 'system:bootstrap:others')
    await withdraw()
    const list = await readRevocationList(admin)
    const now = new Date()
    const past = new Date(now.getTime() - 60_000)
    assert.ok(list.findUser(TOKEN, past))
    assert.equal(list.findUser('system:bootstrap:others', past), undefined)
    for (let index = 0; index < 300; index += 1) {
      const key = `sha256:${index.toString(16).padStart(64, '0')}`
      assert.ok(list.findKey(key) ?? list.findUser(`system:node:n${index}`, past, key), key)
    }
    assert.ok(list.findUser('system:node:n3', past))
    assert.equal(list.findUser('system:node:n3', past, pin('e')), undefined)
    assert.equal(list.findUser('system:node:two', past), undefined)
  })

  it('changes nothing in a dry run', async () => {
    assert.equal((await withdraw({dryRun: true})).certificates.length, 3)
    assert.equal(await isCordoned('one'), false)
    const list = {namespace: 'kube-system', name: 'trustadm-revoked-certificates'}
    assert.equal((await admin.configMaps.get(list)).data, undefined)
  })

  it('leaves the Node of a machine that has joined anew with something else', async () => {
    const now = new Date(Math.floor(Date.now() / 1000) * 1000)
    const issued = {pin: pin('f'), notBefore: now, notAfter: new Date(now.getTime() + DAY)}
    await admin.configMaps.create(recordIssued(emptyRecord('one'), issued, now) ?? assert.fail())
    const {certificates, nodes} = await withdraw()
    assert.equal(certificates.length, 3)
    assert.deepEqual(nodes, [{name: 'gone', cordoned: false}])
    assert.equal(await isCordoned('one'), false)
  })

  it('finds machines by the records of their names where there is no log, and says so', async () => {
    const now = new Date(Math.floor(Date.now() / 1000) * 1000)
    const issued = {
      pin: pin('f'),
      notBefore: now,
      notAfter: new Date(now.getTime() + DAY),
      requester: TOKEN,
    }
    await admin.configMaps.create(recordIssued(emptyRecord('one'), issued, now) ?? assert.fail())
    const {certificates, nodes} = await withdraw({log: undefined})
    assert.deepEqual(
      certificates.map((one) => [one.user, one.pin]),
      [['system:node:one', pin('f')]],
    )
    assert.deepEqual(nodes, [{name: 'one', cordoned: true}])
    assert.match(warnings.join(), /issuance log is not on this machine/)
  })

  it('is refused for a bootstrap credential where there is no log: nothing names its machines', async () => {
    const options = {reason: 'leaked', log: undefined, warn: (line: string) => warnings.push(line)}
    const credential = {credentialId: `X509SHA256=${'a'.repeat(64)}`}
    await assert.rejects(withdrawMachines(admin, credential, options, systemClock), {
      code: 'USAGE',
      message: /nothing was changed/,
    })
    assert.deepEqual(warnings, [])
  })
})
