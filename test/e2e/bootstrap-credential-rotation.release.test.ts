import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {CreatedCredential} from '../../src/control-plane/bootstrap-credentials/create.ts'
import type {RotationReport} from '../../src/control-plane/ca-rotation/report.ts'
import type {CredentialList} from '../../src/control-plane/bootstrap-credentials/list.ts'
import {bootstrapperUser} from '../../src/csr/bootstrapper.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import {startCluster, type Cluster} from '../helpers/cluster.ts'
import {trustadm} from '../helpers/program.ts'

describe('a bootstrap certificate, while all CAs of the cluster are rotated', function () {
  this.timeout(120_000)
  let cluster: Cluster
  let home = ''
  before(async () => {
    cluster = await startCluster()
    home = await mkdtemp(join(tmpdir(), 'trustadm-credential-rotation-'))
  })
  after(async () => {
    await cluster.stop()
    await rm(home, {recursive: true, force: true})
  })

  const run = async <T>(...args: string[]): Promise<T> => {
    const {code, stdout, stderr} = await trustadm(...args, '--dir', cluster.dir, '-o', 'json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as T
  }
  /** Whom the server takes its holder for. What the server itself is verified by changes, and is read again. */
  const userOf = async (file: string) => {
    const {ca} = await resolveAccess(await readKubeconfig(cluster.kubeconfig))
    const {clientCertificate} = await resolveAccess(await readKubeconfig(file))
    const client = connectTo({server: cluster.endpoint, ca: ca ?? '', clientCertificate})
    try {
      return await whoAmI(client)
    } finally {
      await client.close()
    }
  }

  it('stays what it is: its CA is none of those, and only "revoke" ends it', async () => {
    const file = join(home, 'bootstrap.conf')
    const {id} = await run<CreatedCredential>('bootstrap-credential', 'create', '--out', file)
    const known = ['--ignore', `replaced-here,${id}`]
    for (const step of ['start', 'complete']) {
      await run('ca', 'rotate', step, '--yes', ...(step === 'complete' ? known : []))
      assert.equal(await userOf(file), bootstrapperUser('kube-system'), step)
      const {credentials} = await run<CredentialList>('bootstrap-credential', 'list')
      assert.deepEqual(
        credentials.map((one) => [one.id, one.state]),
        [[id, 'live']],
        step,
      )
    }
    await run('bootstrap-credential', 'revoke', id, '--yes')
    assert.equal(await userOf(file), undefined)
  })

  it('is named with what to do about the images, until it is replaced', async () => {
    const [early, late] = ['early', 'late'].map((name) => join(home, `${name}.conf`))
    assert.ok(early && late)
    const create = ['bootstrap-credential', 'create', '--out'] as const
    const {id} = await run<CreatedCredential>(...create, early)
    const inRotation = async (...args: string[]) => {
      const {dependents} = await run<RotationReport>('ca', 'rotate', ...args)
      return dependents.filter(({kind}) => kind === 'bootstrap').map(({name}) => name)
    }
    assert.deepEqual(await inRotation('start', '--yes'), [id])
    const complete = ['ca', 'rotate', 'complete', '--yes', '--ignore', 'replaced-here']
    const refused = await trustadm(...complete, '--dir', cluster.dir)
    assert.equal(refused.code, 6)
    assert.match(refused.stderr, new RegExp(`bootstrap ${id}: .*only the old CA`))
    assert.match(refused.stderr, /put another one into the image of your machines/)
    // The new one knows both CAs.
    await run<CreatedCredential>(...create, late)
    await run('bootstrap-credential', 'revoke', id, '--yes')
    assert.deepEqual(await inRotation('status'), [])
    await run(...complete)
    const {ca} = await resolveAccess(await readKubeconfig(late))
    const client = connectTo({server: cluster.endpoint, ca: ca ?? ''})
    assert.ok(await client.version())
    await client.close()
  })
})
