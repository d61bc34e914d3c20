import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {listNodes} from '../../../src/control-plane/nodes/list.ts'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import {TrustError} from '../../../src/errors.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {TRUST_REPORT, formatTrustReport} from '../../../src/node/trust-report.ts'
import {keyRevocation} from '../../../src/trust/revocations.ts'
import {sign, submit} from '../../controllers/approval/support.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {until} from '../../server/support.ts'
import {useTemporaryFolder} from '../../pki/support.ts'

const DAY = 86_400_000

describe('listing the nodes of a cluster', () => {
  const folder = useTemporaryFolder()
  let server: TestServer
  let admin: ApiClient
  let warnings: string[]
  beforeEach(async () => {
    warnings = []
    server = await startTestServer()
    admin = server.clientAs(ADMIN)
  })
  afterEach(() => server.stop())

  const list = (more: object = {}) =>
    listNodes(
      {client: admin, warn: (line) => warnings.push(line), commandFor: String, ...more},
      systemClock,
    )
  const newNode = (name: string, annotations: Record<string, string> = {}) =>
    admin.nodes.create({metadata: {name, annotations}})

  it('joins what nodes report, what was issued, waits and is revoked', async () => {
    const published = {namespace: 'kube-system', name: 'kube-root-ca.crt'}
    await until(async () => (await admin.configMaps.find(published)) !== undefined)
    const client = {
      serial: '1f',
      issuer: 'CN=kubernetes',
      notBefore: new Date(Date.now() - DAY).toISOString(),
      notAfter: new Date(Date.now() + DAY).toISOString(),
    }
    const pin = pinOf(parseCertificate(server.ca))
    await newNode('reports', {[TRUST_REPORT]: formatTrustReport({trusts: [pin], client})})
    await newNode('distrusts', {[TRUST_REPORT]: formatTrustReport({trusts: [], client})})
    await newNode('quiet')
    await newNode('stolen')
    const keys = await generateKeys('ECDSA-P256')
    await submit(admin, {name: 'csr-1', commonName: 'system:node:stolen', keys})
    await sign(server, admin, 'csr-1', {keys, lifetime: DAY, clock: systemClock})
    await submit(admin, {name: 'csr-2', commonName: 'system:node:quiet'})
    const stolen = pinOf({publicKeyDer: keys.publicKey.export({type: 'spki', format: 'der'})})
    await admin.configMaps.patch(
      {namespace: 'kube-system', name: 'trustadm-revoked-certificates'},
      {data: {[keyRevocation(stolen)]: '{"reason":"lost"}'}},
      {type: 'merge'},
    )
    const {nodes} = await list()
    assert.deepEqual(
      nodes.map(({name, problems}) => [name, problems.map(({code}) => code)]),
      [
        ['stolen', ['revoked']],
        ['distrusts', ['ca-not-trusted']],
        ['quiet', ['request-waits', 'unknown']],
        ['reports', []],
      ],
    )
    assert.match(nodes[0]?.problems[0]?.message ?? '', /revoked: lost$/)
    assert.deepEqual(warnings, [])
  })

  it("names a node whose name a token took over, on a server that is not trustadm's", async () => {
    await newNode('one')
    const keys = await generateKeys('ECDSA-P256')
    await submit(admin, {name: 'csr-1', commonName: 'system:node:one', keys})
    await sign(server, admin, 'csr-1', {keys, lifetime: DAY, clock: systemClock})
    const csr = await admin.csrs.get('csr-1')
    const creationTimestamp = new Date(Date.now() + DAY).toISOString()
    const later = {...csr, metadata: {...csr.metadata, creationTimestamp}}
    const client = {
      ...admin,
      csrs: {
        list: ({onPage}: {onPage: (items: (typeof csr)[], isFirst: boolean) => void}) => {
          onPage([later], true)
          return Promise.resolve({items: []})
        },
      },
      version: () => Promise.resolve({gitVersion: 'v1.36.4'}),
    }
    const problems = (await list({client})).nodes[0]?.problems ?? []
    assert.deepEqual(
      problems.map(({code}) => code),
      ['taken-over'],
    )
    assert.match(problems[0]?.message ?? '', /request csr-1\).*"node history one"$/)
  })

  it('shows a node as locked out whose certificate is of a CA that is gone', async () => {
    const name = 'extension-apiserver-authentication'
    const accepted = {'client-ca-file': server.ca}
    const client = {
      ...admin,
      configMaps: {
        ...admin.configMaps,
        list: (...call: Parameters<ApiClient['configMaps']['list']>) =>
          admin.configMaps.list(...call),
        find: (key: {namespace: string; name: string}) =>
          key.name === name
            ? Promise.resolve({metadata: key, data: accepted})
            : admin.configMaps.find(key),
      },
    }
    await newNode('one')
    const keys = await generateKeys('ECDSA-P256')
    await submit(admin, {name: 'csr-1', commonName: 'system:node:one', keys})
    await sign(server, admin, 'csr-1', {keys, lifetime: DAY, clock: systemClock})
    assert.deepEqual((await list({client})).nodes[0]?.problems, [])
    accepted['client-ca-file'] = (await makeAuthority()).pem
    assert.equal((await list({client})).nodes[0]?.problems[0]?.code, 'locked-out')
  })

  it('shows what a kubelet has renewed since the last report of its node, and when', async () => {
    const client = {
      serial: '1f',
      issuer: 'CN=kubernetes',
      notBefore: new Date(Date.now() - 9 * DAY).toISOString(),
      notAfter: new Date(Date.now() - DAY).toISOString(),
    }
    await newNode('one', {[TRUST_REPORT]: formatTrustReport({trusts: [], client})})
    const keys = await generateKeys('ECDSA-P256')
    await submit(admin, {name: 'csr-1', commonName: 'system:node:one', keys})
    const submitted = await admin.csrs.get('csr-1')
    const conditions = [{type: 'Approved', status: 'True' as const, reason: 'Test', message: 'yes'}]
    await admin.csrs.updateSubresource('approval', {...submitted, status: {conditions}})
    await sign(server, admin, 'csr-1', {keys, lifetime: DAY, clock: systemClock})
    const {status} = await admin.csrs.get('csr-1')
    const approved = status?.conditions?.[0]?.lastUpdateTime ?? assert.fail('it has no time')
    const [found] = (await list()).nodes
    assert.equal(found?.certificate?.source, 'issued')
    assert.ok(!found.problems.some(({code}) => code === 'expired'))
    assert.equal(found.lastRenewal, approved)
  })

  it('takes the newest certificate of the issuance log, and counts renewals', async () => {
    await newNode('one')
    const log = join(folder(), 'issuance.log')
    const written = new FileIssuanceLog(log, systemClock)
    for (const [serial, days] of [
      ['a', -2],
      ['b', -1],
      ['c', -3],
    ] as const) {
      await written.append({
        decision: 'issued',
        signer: 'kubernetes.io/kube-apiserver-client-kubelet',
        request: serial,
        uid: 'u',
        requester: 'system:node:one',
        subject: 'O=system:nodes, CN=system:node:one',
        commonName: 'system:node:one',
        names: {dns: [], ips: [], emails: [], uris: []},
        issuer: 'CN=kubernetes',
        serial,
        fingerprint: serial.repeat(64),
        notBefore: new Date(Date.now() + days * DAY).toISOString(),
        notAfter: new Date(Date.now() + 10 * DAY).toISOString(),
      })
    }
    await written.close()
    const [report] = (await list({log})).nodes
    assert.equal(report?.certificate?.serial, 'b')
    // When the line was written, not the backdated start of the certificate.
    const age = Date.now() - Date.parse(report.lastRenewal ?? '')
    assert.ok(age < DAY / 2, `${age}`)
  })

  it('leaves out what the caller may not read, and says so', async () => {
    await newNode('one')
    const forbidden = () => Promise.reject(new TrustError('FORBIDDEN', 'may not'))
    const client = {
      ...admin,
      csrs: {list: forbidden},
      configMaps: {find: forbidden, list: forbidden},
    }
    const {nodes} = await list({client})
    assert.deepEqual(
      nodes.map(({name}) => name),
      ['one'],
    )
    assert.equal(warnings.length, 5)
  })

  it('reads 5,000 nodes page by page', async () => {
    const client = {
      ...admin,
      nodes: {
        list: async ({onPage}: {onPage: (items: object[], isFirst: boolean) => void}) => {
          for (let page = 0; page < 10; page += 1) {
            const items = Array.from({length: 500}, (_, index) => ({
              metadata: {name: `n${page * 500 + index}`},
            }))
            onPage(items, page === 0)
          }
          return await Promise.resolve({items: []})
        },
      },
    }
    assert.equal((await list({client})).nodes.length, 5000)
  })
})
