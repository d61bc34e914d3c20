import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout} from 'node:timers/promises'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {hasCode, messageOf} from '../../src/errors.ts'
import {requestCertificate} from '../../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../../src/node/client-certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {systemClock} from '../../src/runtime.ts'
import {readable, submit, wished} from '../controllers/approval/support.ts'
import {approve, settled} from '../controllers/signing/support.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {joined} from '../helpers/joined.ts'
import {trustadm} from '../helpers/program.ts'
import {get1} from '../server/http/support.ts'

type Node = Awaited<ReturnType<typeof joined>>

describe('revoking what is still being issued', function () {
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

  /** What the server says to a node that reads its own Node. */
  async function statusFor(credentials: Node): Promise<number> {
    const {ca = ''} = await resolveAccess(await readKubeconfig(cluster.kubeconfig))
    const place = {port: Number(new URL(cluster.endpoint).port), ca}
    return (await get1(place, `/api/v1/nodes/${credentials.name}`, {credentials})).status
  }

  for (const name of ['once', 'twice', 'again']) {
    it(`leaves no certificate to a node that renews all the time, ${name}`, async () => {
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
      for (const one of held) assert.equal(await statusFor(one), 401)
    })
  }

  const revoke = (...args: string[]) =>
    trustadm('certificate', 'revoke', ...args, '--kubeconfig', cluster.kubeconfig)

  it('asks first, and refuses without a terminal', async () => {
    const node = await joined(cluster, cluster.token, home, 'asked-about')
    const asked = await revoke('--node', node.name)
    assert.deepEqual([asked.code, asked.stdout], [2, ''])
    assert.match(asked.stderr, /Revoke this certificate\? There is no terminal to ask on\./)
    assert.match(asked.stderr, /use --yes/)
    assert.equal(await statusFor(node), 200)
  })

  it('signs nothing for a revoked key, whoever approves it', async () => {
    const admin = await connect(cluster.kubeconfig)
    try {
      const wish = {name: 'approved-late', keys: await generateKeys()}
      const {pin} = readable(await wished(wish))
      const {code, stderr} = await revoke('--pin', pin, '--reason', 'copied', '--yes')
      assert.equal(code, 0, stderr)
      await approve(admin, await submit(admin, wish))
      const {status} = await settled(admin, wish.name)
      assert.equal(status?.certificate, undefined)
      const failed = status?.conditions?.find(({type}) => type === 'Failed')
      assert.equal(failed?.reason, 'Revoked')
      assert.match(failed.message ?? '', /its key is revoked: copied$/)
    } finally {
      await admin.close()
    }
  })
})
