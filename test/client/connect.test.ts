import assert from 'node:assert/strict'
import type {RequestListener} from 'node:http'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {TLSSocket} from 'node:tls'
import {connect} from '../../src/client/connect.ts'
import {buildKubeconfig, writeKubeconfig} from '../../src/client/kubeconfig-build.ts'
import {formatKubeconfig} from '../../src/client/kubeconfig.ts'
import {TrustError} from '../../src/errors.ts'
import {
  DAY,
  from,
  issue,
  makeAuthority,
  type TestAuthority,
  type TestPair,
} from './support/certificates.ts'
import {answer, status} from './support/fake-api.ts'
import {Cleanup, serveTls} from './support/servers.ts'

describe('connect', () => {
  const cleanup = new Cleanup()
  let folder: string
  let authority: TestAuthority
  let client: TestPair

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'connect-'))
    authority = await makeAuthority()
    client = await issue(authority, {name: 'admin', names: {}, usage: 'client auth'})
  })
  after(() => rm(folder, {recursive: true}))
  afterEach(() => cleanup.run())

  async function serve(listener: RequestListener): Promise<string> {
    const options = {requestCert: true, rejectUnauthorized: false, ca: authority.pem}
    return cleanup.add(await serveTls(await issue(authority), listener, options)).url
  }

  function kubeconfigFor(server: string, credentials = client) {
    return buildKubeconfig({server, ca: authority.pem, userName: 'admin', credentials})
  }

  const whoIsIt: RequestListener = (request, response) => {
    const {subject} = (request.socket as TLSSocket).getPeerCertificate()
    answer(response, 200, {kind: 'Node', metadata: {name: subject.CN}})
  }

  it('makes a client of a kubeconfig file', async () => {
    const path = join(folder, 'admin.conf')
    await writeKubeconfig(path, kubeconfigFor(await serve(whoIsIt)))
    const api = cleanup.add(await connect(path, {environment: {}}))
    assert.equal((await api.nodes.get('any')).metadata.name, 'admin')
  })

  it('makes a client of content', async () => {
    const content = formatKubeconfig(kubeconfigFor(await serve(whoIsIt)))
    const api = cleanup.add(await connect({content}, {environment: {}}))
    assert.equal((await api.nodes.get('any')).metadata.name, 'admin')
  })

  it('finds the kubeconfig of $KUBECONFIG and the context that was named', async () => {
    const path = join(folder, 'listed.conf')
    const config = kubeconfigFor(await serve(whoIsIt))
    await writeKubeconfig(path, {...config, 'current-context': 'other'})
    const environment = {KUBECONFIG: path}
    await assert.rejects(connect(undefined, {environment}), {message: /no context "other"/})
    const api = cleanup.add(await connect(undefined, {environment, context: 'admin@kubernetes'}))
    assert.equal((await api.nodes.get('any')).metadata.name, 'admin')
  })

  it('says that the client certificate has expired when the server refuses it', async () => {
    const expired = await issue(authority, {
      name: 'admin',
      names: {},
      usage: 'client auth',
      validity: from(-2 * DAY, -DAY),
    })
    const server = await serve((_request, response) =>
      answer(response, 401, status(401, 'Unauthorized', 'Unauthorized')),
    )
    const content = formatKubeconfig(kubeconfigFor(server, expired))
    const api = cleanup.add(await connect({content}, {environment: {}}))
    await assert.rejects(api.nodes.get('any'), (error: TrustError) => {
      assert.equal(error.code, 'UNAUTHORIZED')
      assert.match(error.suggestions[0] ?? '', /^the client certificate expired at 20/)
      return true
    })
  })

  it('reports a redirect instead of following it', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(302, {location: 'https://127.0.0.1:1/'}).end()
    })
    const content = formatKubeconfig(kubeconfigFor(server))
    const api = cleanup.add(await connect({content}, {environment: {}}))
    await assert.rejects(api.nodes.get('any'), {code: 'SERVER_ERROR', message: /redirect/})
  })
})
