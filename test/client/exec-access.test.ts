import assert from 'node:assert/strict'
import type {RequestListener} from 'node:http'
import {chmod, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {TLSSocket} from 'node:tls'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connectTo, findAccess} from '../../src/client/connect.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'
import {issue, makeAuthority, type TestAuthority} from './support/certificates.ts'
import {answer, status} from './support/fake-api.ts'
import {Cleanup, serveTls, type RunningServer} from './support/servers.ts'

const V1 = 'client.authentication.k8s.io/v1'

describe('an access with credentials of a program', () => {
  const cleanup = new Cleanup()
  let folder = ''
  let authority: TestAuthority
  let server: RunningServer
  /** What the server lets in; it answers with who it is. */
  let accepted: string
  let now: Date
  const clock = {now: () => now}

  const listener: RequestListener = (request, response) => {
    const {subject} = (request.socket as TLSSocket).getPeerCertificate() as {
      subject?: {CN: string}
    }
    const who = subject?.CN ?? request.headers.authorization ?? 'nobody'
    if (who !== accepted) return answer(response, 401, status(401, 'Unauthorized', 'Unauthorized'))
    const object = {kind: 'Node', metadata: {name: who}}
    const isWatch = request.url?.includes('watch=') ?? false
    answer(response, 200, isWatch ? {type: 'ADDED', object} : object)
  }

  before(async () => {
    authority = await makeAuthority()
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'exec-access-'))
    now = new Date('2026-01-01T00:00:00Z')
    const options = {requestCert: true, rejectUnauthorized: false, ca: authority.pem}
    server = cleanup.add(await serveTls(await issue(authority), listener, options))
    await writeFile(
      join(folder, 'plugin'),
      `#!/bin/sh\necho run >> ${folder}/runs\ncat ${folder}/credential\n`,
    )
    await chmod(join(folder, 'plugin'), 0o755)
  })
  afterEach(async () => {
    await cleanup.run()
    await rm(folder, {recursive: true, force: true})
  })

  const returns = (credential: object) =>
    writeFile(
      join(folder, 'credential'),
      JSON.stringify({kind: 'ExecCredential', apiVersion: V1, status: credential}),
    )
  const runs = async () => (await readFile(join(folder, 'runs'), 'utf8')).trim().split('\n').length

  const access = (): ServerAccess => ({
    server: server.url,
    ca: authority.pem,
    exec: {
      apiVersion: V1,
      command: join(folder, 'plugin'),
      args: [],
      env: {},
      interactiveMode: 'Never',
    },
  })
  const connect = (): ApiClient => cleanup.add(connectTo(access(), {clock, environment: {}}))
  const whoAmI = async (client: ApiClient) => (await client.nodes.get('any')).metadata.name

  it('runs it once for several requests at the same time', async () => {
    accepted = 'Bearer one'
    await returns({token: 'one'})
    const client = connect()
    const all = await Promise.all([whoAmI(client), whoAmI(client), whoAmI(client)])
    assert.deepEqual(all, [accepted, accepted, accepted])
    assert.equal(await runs(), 1)
  })

  it('runs it again once its credential has expired', async () => {
    const client = connect()
    await returns({token: 'one', expirationTimestamp: '2026-01-01T01:00:00Z'})
    accepted = 'Bearer one'
    await whoAmI(client)
    now = new Date('2026-01-01T00:59:59Z')
    await whoAmI(client)
    assert.equal(await runs(), 1)
    now = new Date('2026-01-01T01:00:00Z')
    await returns({token: 'two'})
    accepted = 'Bearer two'
    assert.equal(await whoAmI(client), accepted)
    assert.equal(await runs(), 2)
  })

  it("uses what has expired by this machine's clock, and asks for no other at once", async () => {
    const {certificate, key} = await issue(authority, {
      name: 'late',
      names: {},
      usage: 'client auth',
    })
    const expirationTimestamp = '2020-01-01T00:00:00Z'
    await returns({clientCertificateData: certificate, clientKeyData: key, expirationTimestamp})
    accepted = 'late'
    assert.equal(await whoAmI(connect()), 'late')
    assert.equal(await runs(), 1)
  })

  it('runs it again after a 401, and sends the request again', async () => {
    const client = connect()
    await returns({token: 'one'})
    accepted = 'Bearer one'
    await whoAmI(client)
    await returns({token: 'two'})
    accepted = 'Bearer two'
    assert.equal(await whoAmI(client), 'Bearer two')
    assert.equal(await runs(), 2)
  })

  it('does the same for a watch', async () => {
    const client = connect()
    await returns({token: 'one'})
    accepted = 'Bearer one'
    await whoAmI(client)
    await returns({token: 'two'})
    accepted = 'Bearer two'
    const names: unknown[] = []
    for await (const event of client.nodes.watch({resourceVersion: '1'})) {
      names.push(event.object.metadata.name)
    }
    assert.deepEqual(names, ['Bearer two'])
    assert.equal(await runs(), 2)
  })

  it('gives up where the program returns the same again', async () => {
    accepted = 'nobody else'
    await returns({token: 'refused'})
    await assert.rejects(whoAmI(connect()), {code: 'UNAUTHORIZED'})
    assert.equal(await runs(), 2)
  })

  it('opens new connections for a new client certificate', async () => {
    const client = connect()
    for (const name of ['first', 'second']) {
      const pair = await issue(authority, {name, names: {}, usage: 'client auth'})
      await returns({clientCertificateData: pair.certificate, clientKeyData: pair.key})
      accepted = name
      assert.equal(await whoAmI(client), name)
    }
    assert.equal(await runs(), 2)
  })

  it('ends the program when the client is closed', async () => {
    await writeFile(join(folder, 'plugin'), `#!/bin/sh\ntouch ${folder}/started\nexec sleep 600\n`)
    const client = connectTo(access(), {clock, environment: {PATH: '/usr/bin:/bin'}})
    const asked = assert.rejects(whoAmI(client), {message: /closed/})
    const started = () =>
      readFile(join(folder, 'started')).then(
        () => true,
        () => false,
      )
    while (!(await started())) await new Promise((resolve) => setTimeout(resolve, 5))
    await client.close()
    await asked
  })

  it('is that of the pod where there is no kubeconfig, with a token that may change', async () => {
    const {port} = server
    await writeFile(join(folder, 'token'), 'one\n')
    await writeFile(join(folder, 'ca.crt'), authority.pem)
    await writeFile(join(folder, 'namespace'), 'ops')
    const environment = {KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: `${port}`}
    const found = await findAccess(undefined, {environment, home: folder, serviceAccount: folder})
    assert.equal(found.namespace, 'ops')
    const client = cleanup.add(connectTo(found, {environment: {}}))
    for (const token of ['one', 'two']) {
      await writeFile(join(folder, 'token'), token)
      accepted = `Bearer ${token}`
      assert.equal(await whoAmI(client), accepted)
    }
  })

  const outside = [
    {name: 'a context is named', options: {context: 'other'}, environment: {}},
    {name: 'no port is known', options: {}, environment: {KUBERNETES_SERVICE_PORT: ''}},
  ]
  for (const {name, options, environment} of outside) {
    it(`is never that of the pod where ${name}`, async () => {
      await writeFile(join(folder, 'token'), 'one\n')
      await writeFile(join(folder, 'ca.crt'), authority.pem)
      const variables = {KUBERNETES_SERVICE_HOST: '::1', KUBERNETES_SERVICE_PORT: '1'}
      const place = {home: folder, serviceAccount: folder, ...options}
      await assert.rejects(
        findAccess(undefined, {environment: {...variables, ...environment}, ...place}),
        {code: 'KUBECONFIG_INVALID'},
      )
    })
  }

  it("brackets an IPv6 address of the pod's server", async () => {
    await writeFile(join(folder, 'token'), 'one\n')
    await writeFile(join(folder, 'ca.crt'), authority.pem)
    const environment = {KUBERNETES_SERVICE_HOST: '::1', KUBERNETES_SERVICE_PORT: '443'}
    const found = await findAccess(undefined, {environment, home: folder, serviceAccount: folder})
    assert.equal(found.server, 'https://[::1]:443/')
  })
})
