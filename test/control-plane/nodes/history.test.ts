import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {nodeHistory} from '../../../src/control-plane/nodes/history.ts'
import {certificateOfRequest} from '../../../src/control-plane/revocation/known-certificates.ts'
import {FileIssuanceLog} from '../../../src/controllers/signing/file-issuance-log.ts'
import type {Issuance} from '../../../src/controllers/signing/issuance.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {keyRevocation} from '../../../src/trust/revocations.ts'
import {sign, submit} from '../../controllers/approval/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {useTemporaryFolder} from '../../pki/support.ts'

const DAY = 86_400_000
const USER = 'system:node:one'

describe('the history of a node', () => {
  const folder = useTemporaryFolder()
  let server: TestServer
  let admin: ApiClient
  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  afterEach(() => server.stop())

  const history = (node: string, log?: string) =>
    nodeHistory(node, {client: admin, log, warn: (line) => assert.fail(line)}, systemClock)

  /** Each line a second after the one before. */
  async function logOf(...lines: Partial<Issuance>[]): Promise<string> {
    const path = join(folder(), 'issuance.log')
    let time = Date.parse('2026-01-01T00:00:00Z')
    const log = new FileIssuanceLog(path, {now: () => new Date((time += 1000))})
    for (const [index, line] of lines.entries()) {
      await log.append({
        decision: 'issued',
        signer: 'kubernetes.io/kube-apiserver-client-kubelet',
        request: `csr-${index}`,
        uid: 'u',
        requester: USER,
        subject: `O=system:nodes, CN=${USER}`,
        commonName: USER,
        names: {dns: [], ips: [], emails: [], uris: []},
        issuer: 'CN=kubernetes',
        serial: `a${index}`,
        fingerprint: `f${index}`,
        notBefore: '2026-01-01T00:00:00Z',
        notAfter: '2027-01-01T00:00:00Z',
        ...line,
      })
    }
    await log.close()
    return path
  }

  it('goes from its token over renewals to a re-join, with serial numbers and approvals', async () => {
    const log = await logOf(
      {requester: 'system:bootstrap:abcdef', approval: 'AutoApproved: by the rules'},
      {credential: 'X509SHA256=f0'},
      {signer: 'kubernetes.io/kubelet-serving'},
      {commonName: 'system:node:other', requester: 'system:node:other'},
      {decision: 'refused', reason: 'no such usage'},
      {requester: 'system:bootstrap:ghijkl'},
    )
    const {entries} = await history('one', log)
    assert.deepEqual(
      entries.map(({what, serial}) => [what, serial]),
      [
        ['joined', 'a0'],
        ['renewed', 'a1'],
        ['issued', 'a2'],
        ['failed', 'a4'],
        ['rejoined', 'a5'],
      ],
    )
    const [joined, renewed] = entries
    assert.equal(
      joined?.message,
      'serial a0 of CN=kubernetes; valid until 2027-01-01T00:00:00Z; requested by bootstrap token abcdef; approved: AutoApproved: by the rules',
    )
    assert.match(renewed?.message ?? '', /requested by system:node:one \(X509SHA256=f0\)$/)
    assert.equal(joined.time, '2026-01-01T00:00:01.000Z')
  })

  it('has what the API knows: requests, decisions, the Node and revocations', async () => {
    const keys = await generateKeys('ECDSA-P256')
    await submit(admin, {name: 'first', commonName: USER, keys})
    await sign(server, admin, 'first', {keys, lifetime: DAY, clock: systemClock})
    await admin.nodes.create({metadata: {name: 'one'}})
    await submit(admin, {name: 'second', commonName: USER})
    const revoked = new Date(Date.now() + DAY).toISOString()
    const details = {user: USER, serial: '1f', revoked, by: 'ada', reason: 'lost'}
    await admin.configMaps.patch(
      {namespace: 'kube-system', name: 'trustadm-revoked-certificates'},
      {data: {[keyRevocation(`sha256:${'ab'.repeat(32)}`)]: JSON.stringify(details)}},
      {type: 'merge'},
    )
    const {entries, waiting} = await history('one')
    assert.deepEqual([...new Set(entries.map(({what}) => what))].sort(), [
      'joined',
      'registered',
      'requested',
      'revoked',
    ])
    assert.deepEqual(
      [entries.at(-1)?.what, entries.at(-1)?.message],
      ['revoked', 'serial 1f by ada: lost'],
    )
    assert.deepEqual(
      waiting.map(({request}) => request),
      ['second'],
    )
    const rules = waiting[0]?.approvers.flatMap((one) => one.rules) ?? []
    assert.ok(rules.some(({code}) => code === 'node-name'))
  })

  it('puts a backdated certificate behind its request and approval', async () => {
    const keys = await generateKeys('ECDSA-P256')
    const backdated = {now: () => new Date(Date.now() - DAY)}
    const csr = await submit(admin, {name: 'first', commonName: USER, keys})
    const approved = {type: 'Approved', status: 'True' as const, reason: 'AutoApproved'}
    await admin.csrs.updateSubresource('approval', {...csr, status: {conditions: [approved]}})
    await sign(server, admin, 'first', {keys, lifetime: 2 * DAY, clock: backdated})
    const {entries} = await history('one')
    assert.deepEqual(
      entries.map(({what}) => what),
      ['requested', 'approved', 'joined'],
    )
  })

  it('shows a certificate once that the log and a request know', async () => {
    const keys = await generateKeys('ECDSA-P256')
    await submit(admin, {name: 'first', commonName: USER, keys})
    await sign(server, admin, 'first', {keys, lifetime: DAY, clock: systemClock})
    const {entries: before} = await history('one')
    const {serial} = before.find(({what}) => what === 'joined') ?? {}
    const csr = await admin.csrs.get('first')
    const [known] = certificateOfRequest(csr)
    const log = await logOf({serial: serial ?? '', fingerprint: known?.fingerprint ?? ''})
    const {entries} = await history('one', log)
    assert.equal(entries.filter((one) => one.serial === serial).length, 1)
  })

  it('is an error for a node that nobody knows', async () => {
    await assert.rejects(history('unknown'), {code: 'NOT_FOUND'})
  })

  it('does not say that nothing is known to who may not read it', async () => {
    const client = server.clientAs({username: 'nobody', groups: ['system:authenticated']})
    const warnings: string[] = []
    const sources = {client, warn: (line: string) => warnings.push(line)}
    await assert.rejects(nodeHistory('one', sources, systemClock), {code: 'FORBIDDEN'})
    assert.equal(warnings.length, 3)
  })
})
