import assert from 'node:assert/strict'
import {join} from 'node:path'
import {WaitingReasons} from '../../../src/cli/rotation/waiting-text.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connectTo} from '../../../src/client/connect.ts'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import type {Dependent} from '../../../src/control-plane/ca-rotation/dependent.ts'
import {withWaitingRequests} from '../../../src/control-plane/ca-rotation/waiting-requests.ts'
import {connectAsAdmin} from '../../../src/control-plane/admin.ts'
import {KUBELET_SERVING} from '../../../src/csr/signers.ts'
import {approve, csrFor, SERVING_USAGES, settled} from '../../controllers/signing/support.ts'
import {planeFixture} from '../plane-fixture.ts'
import {serveFixture} from './support.ts'

const node = (name: string): Dependent => ({
  kind: 'node',
  name,
  reasons: ['its serving certificate is from the old CA'],
  todo: 'renew',
})

describe('a node whose request waits for a person', function () {
  this.timeout(30_000)

  it('is named with the request and the command that approves it', async () => {
    const fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const stop = await serveFixture(fixture)
    const admin = await connectAsAdmin(fixture.context.plane)
    const access = await resolveAccess(await loadKubeconfig(join(fixture.dir, 'super-admin.conf')))
    const asNode = connectTo({
      ...access,
      impersonate: {username: 'system:node:w3', groups: ['system:nodes', 'system:authenticated']},
    })
    try {
      const ask = async (client: ApiClient, name: string) => {
        const wish = {commonName: 'system:node:w3', organizations: ['system:nodes']}
        const names = {dns: ['w3']}
        return await client.csrs.create(
          await csrFor({name, names, usages: SERVING_USAGES, signerName: KUBELET_SERVING, ...wish}),
        )
      }
      const named = async () => await withWaitingRequests(admin, [node('w3'), node('w4')])
      // Whoever may ask for others is not believed: nobody is told to approve that.
      await ask(admin, 'of-somebody-else')
      assert.deepEqual(await named(), [node('w3'), node('w4')])
      const csr = await ask(asNode, 'csr-of-w3')
      const [waiting, other] = await named()
      assert.deepEqual(waiting?.reasons, [
        'its serving certificate is from the old CA',
        'its request csr-of-w3 for a serving certificate waits for approval',
      ])
      assert.match(waiting.todo, /then run "trustadm certificate approve csr-of-w3"$/)
      assert.deepEqual(other, node('w4'))
      await approve(admin, csr)
      await settled(admin, 'csr-of-w3')
      assert.deepEqual(await named(), [node('w3'), node('w4')])
    } finally {
      await asNode.close()
      await admin.close()
      await stop()
    }
  })
})

describe('why a wait lasts', () => {
  it('is told once it has lasted for 10 s, of the first three, and again if the reason changes', () => {
    let now = 0
    const reasons = new WaitingReasons(() => now)
    const all = ['a', 'b', 'c', 'd'].map(node)
    assert.deepEqual(reasons.observe(all), [])
    now = 9999
    assert.deepEqual(reasons.observe(all), [])
    now = 10_000
    assert.deepEqual(
      reasons.observe(all).map((line) => line.slice(0, 26)),
      ['still waiting for node a: ', 'still waiting for node b: ', 'still waiting for node c: '],
    )
    const [a = node('a'), b = node('b')] = all
    const changed = {...a, reasons: ['its request csr-a waits for approval'], todo: 'approve it'}
    assert.deepEqual(reasons.observe([changed, b]), [])
    now = 20_000
    assert.deepEqual(reasons.observe([changed, b]), [
      'still waiting for node a: its request csr-a waits for approval; approve it',
    ])
    now = 40_000
    assert.deepEqual(reasons.observe([changed, b]), [])
  })
})
