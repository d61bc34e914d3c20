import assert from 'node:assert/strict'
import {join} from 'node:path'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import {trustSources} from '../../../src/control-plane/signing.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {verifyChain} from '../../../src/pki/verify.ts'
import {systemClock} from '../../../src/runtime.ts'
import {readTrust} from '../../../src/trust/read-trust.ts'
import {FailingDisk} from '../../helpers/failing-disk.ts'
import {TwoMachines} from './two-machines.ts'

describe('a server that follows a rotation and ends at any place', function () {
  this.timeout(300_000)
  let machines: TwoMachines
  let disk: FailingDisk

  beforeEach(async () => {
    machines = await TwoMachines.create()
    disk = await FailingDisk.of(machines.follower.dir)
  })
  afterEach(async () => {
    disk.remove()
    await machines.remove()
  })

  /** A server that starts from these files accepts the administrator of the first machine, and is accepted. */
  const requireTrusted = async (what: string) => {
    const {ca = '', clientCertificate} = await resolveAccess(
      await loadKubeconfig(join(machines.leader.dir, 'admin.conf')),
    )
    const trust = await readTrust(await trustSources(machines.follower.context.plane), 1)
    const now = systemClock.now()
    const roots = trust.bundles.client.certificates
    const leaf = parseCertificate(clientCertificate?.certificate ?? '')
    const client = verifyChain(leaf, {roots, usage: 'client auth', now})
    assert.equal(client.ok ? '' : client.reason, '', `${what}: the client`)
    const [serving, ...intermediates] = parseBundle(trust.serving.certificate)
    const server =
      serving &&
      verifyChain(serving, {intermediates, roots: parseBundle(ca), usage: 'server auth', now})
    assert.equal(server?.ok ? '' : server?.reason, '', `${what}: the server`)
  }

  for (const end of ['kill', 'full-disk'] as const) {
    for (const then of ['complete', 'abort'] as const) {
      it(`is completed by the next start: ${then}, ${end}`, async () => {
        let ends = 0
        const follow = async (step: string) => {
          while (await disk.run(end, () => machines.follow())) {
            ends += 1
            await requireTrusted(`${step}, end ${ends}`)
          }
          await requireTrusted(step)
        }
        await machines.rotate('start', follow)
        await machines.rotate(then, follow)
        assert.ok(ends > 50, String(ends))
      })
    }
  }
})
