import assert from 'node:assert/strict'
import type {RequestListener} from 'node:http'
import type {TrustedClusterInfo} from '../../../src/discovery/cluster-info.ts'
import {TrustError} from '../../../src/errors.ts'
import {NodeConnection} from '../../../src/node/certificate-manager/connection.ts'
import type {Pair} from '../../../src/node/certificate-manager/pair.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {systemClock} from '../../../src/runtime.ts'
import {constantly} from '../../../src/trust/live.ts'
import {issue, makeAuthority, type TestAuthority} from '../../client/support/certificates.ts'
import {status} from '../../client/support/fake-api.ts'
import {Cleanup, serveTls} from '../../client/support/servers.ts'

const SELF = {dir: '/srv/worker 1', nodeName: 'worker-1'}

describe("a node's connection to a cluster with two addresses", () => {
  const cleanup = new Cleanup()
  let authority: TestAuthority
  before(async () => {
    authority = await makeAuthority()
  })
  afterEach(() => cleanup.run())

  const serve = async (listener: RequestListener) =>
    cleanup.add(await serveTls(await issue(authority), listener)).url

  /** Connected to a server that answers like this, with one that works as the other address. */
  async function connected(listener: RequestListener, pair?: Pair) {
    const server = await serve(listener)
    const other = await serve((_request, response) => {
      response.end(JSON.stringify({kind: 'Node', apiVersion: 'v1', metadata: {name: 'a'}}))
    })
    const info: TrustedClusterInfo = {
      server,
      endpoints: [other],
      ca: authority.pem,
      kubeconfig: '',
      pins: [],
      source: 'file',
      warnings: [],
    }
    return cleanup.add(await NodeConnection.open(info, constantly(pair), SELF, systemClock))
  }
  const answers =
    (code: number, body: string): RequestListener =>
    (_request, response) =>
      response.writeHead(code).end(body)
  const read = (connection: NodeConnection) => connection.use((client) => client.nodes.get('a'))

  it('goes to the other one after something else than an API server has answered', async () => {
    const connection = await connected(answers(404, '<h1>not found</h1>'))
    await assert.rejects(read(connection), {code: 'NOT_FOUND'})
    assert.equal((await read(connection)).metadata.name, 'a')
  })

  it('goes to the other one after the server could not do its work', async () => {
    const body = JSON.stringify(status(500, 'InternalError', 'no disk'))
    const connection = await connected(answers(500, body))
    await assert.rejects(read(connection), {code: 'SERVER_ERROR'})
    assert.equal((await read(connection)).metadata.name, 'a')
  })

  it('stays after a refusal, which only a server that works can give', async () => {
    const body = JSON.stringify(status(403, 'Forbidden', 'no'))
    const connection = await connected(answers(403, body))
    for (let times = 0; times < 2; times += 1)
      await assert.rejects(read(connection), {code: 'FORBIDDEN'})
  })

  it('stays after a failure of this machine', async () => {
    let requests = 0
    const connection = await connected((_request, response) => {
      requests += 1
      response.writeHead(401).end()
    })
    const full = new TrustError('FILE_UNWRITABLE', 'the disk is full')
    await assert.rejects(
      connection.use(() => Promise.reject(full)),
      full,
    )
    await assert.rejects(read(connection), {
      code: 'UNAUTHORIZED',
      message: 'the cluster does not accept the certificate of this node',
    })
    assert.equal(requests, 1)
  })

  const joinAgain = [
    'to join again, get a join command with "trustadm token create --print-join-command" on the control plane',
    `then run "trustadm node leave --dir '/srv/worker 1'" here, and that join command with "--dir '/srv/worker 1' --node-name worker-1" added`,
  ]

  it('says how to join again if the cluster has another CA now', async () => {
    const connection = await connected(answers(200, '{}'))
    const other = await makeAuthority()
    await connection.follow({...connection.info, ca: other.pem})
    const error = await read(connection).catch((failure: unknown) => failure)
    assert.ok(error instanceof TrustError)
    assert.equal(error.code, 'SERVER_NOT_TRUSTED')
    assert.match(
      error.message,
      /^https:\S+ presents a certificate of a CA that this machine does not/,
    )
    assert.deepEqual(error.suggestions.slice(-2), joinAgain)
  })

  it('says that its certificate has expired, and never to leave: that would delete the key', async () => {
    const {certificate: certificatePem, key: keyPem} = await issue(authority)
    const notAfter = new Date('2026-01-01T00:00:00Z')
    const certificate = {...parseCertificate(certificatePem), notAfter}
    const connection = await connected(answers(401, ''), {certificatePem, keyPem, certificate})
    const error = await read(connection).catch((failure: unknown) => failure)
    assert.ok(error instanceof TrustError)
    assert.equal(error.code, 'NODE_CERTIFICATE_EXPIRED')
    assert.deepEqual(error.suggestions, [
      joinAgain[0],
      `then run it here with "--dir '/srv/worker 1' --node-name worker-1" added: it keeps the key, so that the cluster recognizes this machine`,
      'or give "trustadm node run" a --bootstrap-kubeconfig',
    ])
  })

  it('says how to join again if the cluster no longer accepts its certificate', async () => {
    const connection = await connected(answers(401, ''))
    const error = await read(connection).catch((failure: unknown) => failure)
    assert.ok(error instanceof TrustError)
    assert.match(error.suggestions[0] ?? '', /"trustadm certificate unrevoke --node worker-1"/)
    assert.deepEqual(error.suggestions.slice(-2), joinAgain)
  })
})
