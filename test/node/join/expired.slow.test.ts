import assert from 'node:assert/strict'
import {readFile, readdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {parseSpecRequest} from '../../../src/csr/read-request.ts'
import {TrustError} from '../../../src/errors.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import type {JoinSettings} from '../../../src/node/join/phase.ts'
import {issueLeaf} from '../../../src/pki/issuer.ts'
import {generateKeys, parsePrivateKey, privateKeyPem, publicHalf} from '../../../src/pki/keys.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {CredentialStore} from '../../../src/node/credential-store.ts'
import {joinRequest, startJoinableCluster, useFolder, type JoinableCluster} from '../support.ts'

const HOUR = 3_600_000

describe('join, after the certificate has expired', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const dir = () => join(folder(), 'node')
  const pendingKey = () => join(dir(), 'pki', 'kubelet-client.key.tmp')
  let cluster: JoinableCluster
  let stopIssuing: (() => Promise<void>) | undefined
  beforeEach(async () => {
    cluster = await startJoinableCluster()
  })
  afterEach(async () => {
    await stopIssuing?.()
    stopIssuing = undefined
    await cluster.stop()
  })
  const issueAll = () => (stopIssuing = cluster.issueAll().stop)

  const run = async (more: Partial<JoinSettings> = {}) => {
    const request = joinRequest(cluster.settings(dir(), 'one', more))
    await runJoin(request, joinPhases())
    return request.lines.join('\n')
  }
  const requests = async () => (await cluster.admin.csrs.list()).items
  const pinIn = ({spec}: CertificateSigningRequest): string => {
    const read = parseSpecRequest(spec.request)
    assert.ok('request' in read)
    return pinOf(read.request)
  }
  const store = () => new CredentialStore(join(dir(), 'pki'))
  const pinInUse = async () => pinOf((await store().read())?.certificate ?? assert.fail())

  /** A node whose machine was off for longer than its certificate was valid. Gives the pin of its key. */
  const expiredNode = async (): Promise<string> => {
    const {privateKey, publicKey} = await generateKeys()
    const certificate = await issueLeaf(cluster.issuer, {
      subject: {commonName: 'system:node:one', organizations: ['system:nodes']},
      names: NO_NAMES,
      publicKey,
      usages: ['digital signature', 'client auth'],
      validity: {
        notBefore: new Date(Date.now() - 3 * HOUR),
        notAfter: new Date(Date.now() - 2 * HOUR),
      },
    })
    await store().update(certificate, privateKeyPem(privateKey), new Date(Date.now() - 2 * HOUR))
    await cluster.admin.nodes.create({
      metadata: {name: 'one'},
      // Nobody has noticed yet that the machine is gone.
      status: {conditions: [{type: 'Ready', status: 'True'}]},
    })
    return await pinInUse()
  }

  it('asks with the old key, which the cluster knows, although the Node is still there', async () => {
    const pin = await expiredNode()
    issueAll()
    assert.match(await run(), /requesting a new one with the same key/)
    assert.deepEqual((await requests()).map(pinIn), [pin])
    assert.equal(await pinInUse(), pin)
    assert.deepEqual(
      (await readdir(join(dir(), 'pki'))).filter((name) => name.includes('tmp')),
      [],
    )
  })

  it('resumes the same request after an interruption', async () => {
    await expiredNode()
    const pending = await run({certificateTimeout: 50}).catch((error: unknown) => error)
    const [csr] = await requests()
    assert.ok(pending instanceof TrustError && pending.code === 'CERTIFICATE_PENDING')
    // It is no other machine: the one decision on its request is all that it needs.
    const hints = pending.suggestions.join('\n')
    assert.ok(hints.includes(`"trustadm certificate approve ${csr?.metadata.name}"`), hints)
    assert.ok(!hints.includes('allow-rejoin'), hints)
    await cluster.issue(csr?.metadata.name ?? '')
    assert.match(await run(), /resuming with the certificate request/)
    assert.equal((await requests()).length, 1)
  })

  it('asks with a new key after the old one was denied', async () => {
    const pin = await expiredNode()
    const first = run()
    await cluster.deny(await cluster.firstRequest(), 'Stolen', 'this key was stolen')
    await assert.rejects(first, {code: 'CERTIFICATE_DENIED'})
    // As the machine of a stranger, it is now bound to what that machine would be told.
    await assert.rejects(run(), {code: 'NODE_EXISTS'})
    await cluster.admin.nodes.delete('one')
    issueAll()
    await run()
    assert.notEqual(await pinInUse(), pin)
    assert.equal((await requests()).length, 2)
  })

  it('keeps to the old key after its request was deleted', async () => {
    const pin = await expiredNode()
    const first = run()
    await cluster.admin.csrs.delete(await cluster.firstRequest())
    await assert.rejects(first, {code: 'CERTIFICATE_REQUEST_DELETED'})
    issueAll()
    await run()
    assert.equal(await pinInUse(), pin)
  })

  it('takes the key that an interrupted run left for the same one', async () => {
    const pin = await expiredNode()
    const key = (await store().read())?.keyPem ?? ''
    await writeFile(pendingKey(), privateKeyPem(parsePrivateKey(key)), {mode: 0o600})
    issueAll()
    await run()
    assert.equal(await pinInUse(), pin)
  })

  it('goes on with a new key that an earlier run has begun with', async () => {
    const pin = await expiredNode()
    await cluster.admin.nodes.delete('one')
    const {privateKey} = await generateKeys()
    await writeFile(pendingKey(), privateKeyPem(privateKey), {mode: 0o600})
    issueAll()
    await run()
    assert.notEqual(await pinInUse(), pin)
    const pem = await readFile(join(dir(), 'pki', 'kubelet-client-current.pem'), 'utf8')
    assert.deepEqual(publicHalf(parsePrivateKey(pem)), publicHalf(privateKey))
  })
})
