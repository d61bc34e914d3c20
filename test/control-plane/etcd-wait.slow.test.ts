import assert from 'node:assert/strict'
import {once} from 'node:events'
import {writeFile} from 'node:fs/promises'
import {createServer, type Server} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import type {Plane} from '../../src/control-plane/config/plane.ts'
import {complete} from '../../src/control-plane/config/settings.ts'
import {openPlaneEtcd, requireEtcd} from '../../src/control-plane/plane-storage.ts'
import {readStartFailure} from '../../src/control-plane/server-state.ts'
import type {TrustError} from '../../src/errors.ts'
import {privateKeyPem} from '../../src/pki/keys.ts'
import {NO_NAMES} from '../../src/pki/subject-names.ts'
import {save, testAuthority, testLeaf, useTemporaryFolder, validAround} from '../pki/support.ts'
import {until} from '../server/support.ts'

const around = () => validAround(new Date())

/** An etcd without a key, by its answers. */
const answerTo = (path: string) =>
  path.endsWith('/status')
    ? {header: {revision: '1'}, version: '3.5.21'}
    : {header: {revision: '1'}}

describe('a server whose CA of etcd is an old one', function () {
  this.timeout(30_000)
  let etcd: Server
  let plane: Plane
  let newCa: string
  let opened: Promise<void> | undefined

  afterEach(async () => {
    // Ends what still waits if a test has failed.
    await writeFile(join(folder(), 'external-etcd-ca.crt'), newCa)
    await opened
    etcd.closeAllConnections()
    etcd.close()
  })
  // After this hook, so that its own, which removes the folder, comes later.
  const folder = useTemporaryFolder()

  beforeEach(async () => {
    const [old, next] = [
      await testAuthority({commonName: 'etcd-ca', validity: around()}),
      await testAuthority({commonName: 'etcd-ca@1', validity: around()}),
    ]
    newCa = next.pem
    const {pem, keys} = await testLeaf(next.issuer, {
      names: {...NO_NAMES, ips: ['127.0.0.1']},
      usages: ['digital signature', 'server auth'],
      validity: around(),
    })
    etcd = createServer({cert: pem, key: privateKeyPem(keys.privateKey)}, (request, response) =>
      response.end(JSON.stringify(answerTo(request.url ?? ''))),
    ).listen(0, '127.0.0.1')
    await once(etcd, 'listening')
    await save(folder(), {'external-etcd-ca.crt': old.pem})
    const {port} = etcd.address() as AddressInfo
    const settings = complete(folder(), {
      etcdServers: [`https://127.0.0.1:${port}`],
      etcdPrefix: '/test',
      etcdCaFile: join(folder(), 'external-etcd-ca.crt'),
    })
    plane = {dir: folder(), settings, generatedAuthorities: [], joinedControlPlane: true}
  })
  it('says so to the command that started it while it waits, and continues with the new one', async () => {
    const lines: string[] = []
    // What it would start with is not there, which ends it once etcd responds.
    opened = assert.rejects(
      openPlaneEtcd(plane, (line) => lines.push(line)),
      {code: 'CONFLICT', message: /etcd has no keys/},
    )
    await until(async () => (await readStartFailure(plane)) !== undefined)
    const failure = await readStartFailure(plane)
    assert.equal(failure?.isWaiting, true)
    assert.match(failure.message, /^etcd does not respond: .* a certificate that is not trusted/)
    assert.match(failure.hints.join(), /the CA of etcd was rotated .*external-etcd-ca\.crt/s)
    assert.match(lines.join('\n'), /waiting until it does\nhint: if the CA of etcd was rotated/)

    await writeFile(join(folder(), 'external-etcd-ca.crt'), newCa)
    await opened
    assert.equal(lines.at(-1), 'etcd responds')
    assert.equal(await readStartFailure(plane), undefined)
  })

  it('is told about in the checks of "init"', async () => {
    await assert.rejects(requireEtcd(plane), (error: TrustError) => {
      assert.equal(error.code, 'STORE_UNREACHABLE')
      assert.match(error.suggestions[0] ?? '', /the CA of etcd was rotated/)
      return true
    })
  })
})
