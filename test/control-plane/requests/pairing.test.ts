import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {listRequests} from '../../../src/control-plane/requests/list.ts'
import {pairingIn} from '../../../src/control-plane/requests/pairing.ts'
import {requestWords} from '../../../src/csr/pairing-words.ts'
import {TrustError} from '../../../src/errors.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {systemClock} from '../../../src/runtime.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {
  joinRequest,
  startJoinableCluster,
  useFolder,
  type JoinableCluster,
} from '../../node/support.ts'
import {until} from '../../server/support.ts'

describe('the pairing words of a request', function () {
  this.timeout(30_000)
  const folder = useFolder()
  let cluster: JoinableCluster
  beforeEach(async () => {
    cluster = await startJoinableCluster()
  })
  afterEach(() => cluster.stop())

  it('are the same at the machine and for the operator, until the request is decided', async () => {
    const request = joinRequest(cluster.settings(folder(), 'one'))
    const done = runJoin(request, joinPhases())
    const name = await cluster.firstRequest()
    const said = () => /same pairing words: (.+)$/m.exec(request.lines.join('\n'))?.[1]
    await until(() => Promise.resolve(said() !== undefined))
    const pairing = pairingIn(cluster.admin, undefined)
    assert.equal(await pairing(await cluster.admin.csrs.get(name)), said())
    const list = await listRequests(cluster.admin, {}, {decode: false, pairing}, systemClock)
    assert.deepEqual(
      list.requests.map(({pairingWords}) => pairingWords),
      [said()],
    )
    await cluster.issue(name)
    await done
    assert.equal(await pairing(await cluster.admin.csrs.get(name)), null)
  })

  it('come from the kubeconfig where cluster-info is missing, or may not be read', async () => {
    await assert.rejects(
      runJoin(
        joinRequest(cluster.settings(folder(), 'one', {certificateTimeout: 50})),
        joinPhases(),
      ),
      {code: 'CERTIFICATE_PENDING'},
    )
    const [csr] = (await cluster.admin.csrs.list()).items
    assert.ok(csr)
    const {pem} = await makeAuthority('kubeconfig')
    const words = await requestWords(csr, pem)
    const find = () => Promise.reject(new TrustError('FORBIDDEN', 'no'))
    const forbidden = {configMaps: {...cluster.admin.configMaps, find}} as unknown as ApiClient
    assert.equal(await pairingIn(forbidden, pem)(csr), words)
    await cluster.admin.configMaps.delete({namespace: 'kube-public', name: 'cluster-info'})
    assert.equal(await pairingIn(cluster.admin, pem)(csr), words)
  })
})
