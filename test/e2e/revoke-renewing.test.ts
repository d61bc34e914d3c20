import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout} from 'node:timers/promises'
import {connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {hasCode, messageOf} from '../../src/errors.ts'
import {requestCertificate} from '../../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../../src/node/client-certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {systemClock} from '../../src/runtime.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {joined} from '../helpers/joined.ts'
import {trustadm} from '../helpers/program.ts'
import {get1} from '../server/http/support.ts'

type Node = Awaited<ReturnType<typeof joined>>

describe('revoking a node that renews all the time', function () {
  this.timeout(60_000)
  let cluster: Cluster
  let home = ''
  let stop: AbortController
  beforeEach(() => (stop = new AbortController()))
  afterEach(() => stop.abort(new Error('the test is over')))
  before(async () => {
    cluster = await startCluster()
    home = await mkdtemp(join(tmpdir(), 'trustadm-renewing-'))
  })
  after(async () => {
    await cluster.stop()
    await rm(home, {recursive: true, force: true})
  })

  /** Gets one certificate with another until the server refuses the newest. Returns why it ended, and all that it got. */
  async function renewAll(first: Node, onRenewed: () => void) {
    const {server, ca} = await resolveAccess(await readKubeconfig(cluster.kubeconfig))
    const held = [first]
    for (let current = first; !stop.signal.aborted;) {
      const {certificate, key} = current
      const client = connectTo({server, ca, clientCertificate: {certificate, key}})
      try {
        const wanted = clientCertificate(first.name)
        const keys = await generateKeys()
        const made = await requestCertificate(client, wanted, keys, {
          clock: systemClock,
          signal: stop.signal,
        })
        current = {name: first.name, certificate: made.certificatePem, key: made.keyPem}
        held.push(current)
        onRenewed()
      } catch (error) {
        // No more requests than an hour allows: from then on it only looks whether it is still accepted.
        if (!hasCode(error, 'TOO_MANY_REQUESTS')) return {held, why: messageOf(error)}
        await setTimeout(50)
      } finally {
        await client.close()
      }
    }
    return {held, why: 'the test is over'}
  }

  for (const name of ['once', 'twice', 'again']) {
    it(`leaves it no certificate, ${name}`, async () => {
      const node = await joined(cluster, cluster.token, home, name)
      let isRenewed: () => void = () => undefined
      const begun = new Promise<void>((resolve) => (isRenewed = resolve))
      const ended = renewAll(node, isRenewed)
      await begun
      const flags = ['--kubeconfig', cluster.kubeconfig, '--yes']
      const revoked = await trustadm('certificate', 'revoke', '--node', name, ...flags)
      assert.equal(revoked.code, 0, revoked.stderr)
      const {held, why} = await ended
      assert.ok(held.length > 1, why)
      const {ca = ''} = await resolveAccess(await readKubeconfig(cluster.kubeconfig))
      const place = {port: Number(new URL(cluster.endpoint).port), ca}
      for (const credentials of held) {
        const {status} = await get1(place, `/api/v1/nodes/${name}`, {credentials})
        assert.equal(status, 401)
      }
    })
  }
})
