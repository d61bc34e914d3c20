import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {CreatedCredential} from '../../src/control-plane/bootstrap-credentials/create.ts'
import type {CredentialList} from '../../src/control-plane/bootstrap-credentials/list.ts'
import {joined} from '../helpers/joined.ts'
import {Plane} from '../helpers/plane.ts'
import {LOCAL, trustadm} from '../helpers/program.ts'
import {get1, type HttpOptions} from '../server/http/support.ts'

describe('what was revoked, with the built program', function () {
  this.timeout(60_000)
  let plane: Plane
  let home = ''
  let ca = ''
  const revoked = new Map<string, HttpOptions>()
  const ids: string[] = []
  let count = 0

  const run = async (...args: string[]) => {
    const {code, stdout, stderr} = await trustadm(...args)
    assert.equal(code, 0, stderr)
    return stdout
  }
  const operator = async <T>(...args: string[]): Promise<T> => {
    const flags = ['--kubeconfig', plane.cluster.kubeconfig, '--output', 'json']
    return JSON.parse(await run(...args, ...flags)) as T
  }
  const statusOf = async (options: HttpOptions) => {
    const port = Number(new URL(plane.cluster.endpoint).port)
    return (await get1({port, ca}, '/version', options)).status
  }
  /** A new bootstrap credential, and how its holder authenticates. */
  const create = async (kind: string) => {
    const file = join(home, `${(count += 1)}.conf`)
    const {id} = await operator<CreatedCredential>(
      ...['bootstrap-credential', 'create', '--kind', kind, '--out', file],
    )
    const access = await resolveAccess(await readKubeconfig(file))
    const token = await access.bearerToken?.()
    const options: HttpOptions = {
      ...(access.clientCertificate && {credentials: access.clientCertificate}),
      ...(token !== undefined && {headers: {authorization: `Bearer ${token}`}}),
    }
    assert.equal(await statusOf(options), 200)
    return {id, options}
  }

  before(async () => {
    plane = await Plane.start()
    home = await mkdtemp(join(tmpdir(), 'trustadm-stays-'))
    const {cluster} = plane
    ca = (await resolveAccess(await readKubeconfig(cluster.kubeconfig))).ca ?? ''
    for (const kind of ['certificate', 'token']) {
      const {id, options} = await create(kind)
      ids.push(id)
      revoked.set(`a bootstrap credential of the kind ${kind}`, options)
      await operator('bootstrap-credential', 'revoke', id, '--yes')
    }
    const node = await joined(cluster, cluster.token, home, 'stolen')
    revoked.set('the certificate of a node', {credentials: node})
    await operator('certificate', 'revoke', '--node', 'stolen', '--yes')
    revoked.set('a bootstrap token', {headers: {authorization: `Bearer ${cluster.token}`}})
    await operator('token', 'delete', cluster.token.slice(0, 6))
  })
  after(async () => {
    await plane.stop()
    await rm(home, {recursive: true, force: true})
  })

  const requireRefused = async (when: string) => {
    for (const [what, options] of revoked)
      assert.equal(await statusOf(options), 401, `${what}, ${when}`)
  }
  const live = async () => {
    const {credentials} = await operator<CredentialList>('bootstrap-credential', 'list')
    return credentials.filter(({state}) => state === 'live').map(({id}) => id)
  }

  it('stays revoked after the server was killed, after a second init, and after a renewal of all certificates', async () => {
    await requireRefused('at first')
    await plane.restart()
    await requireRefused('after a restart')
    await run('init', '--dir', plane.cluster.dir, ...LOCAL, '--quiet')
    await requireRefused('after init')
    await run('certificate', 'renew', 'all', '--dir', plane.cluster.dir)
    await requireRefused('after certificate renew')
    assert.deepEqual(await live(), [])
  })

  it('stays revoked when new credentials of the same kind are created', async () => {
    for (const kind of ['certificate', 'token']) {
      const {id, options} = await create(kind)
      assert.ok(!ids.includes(id))
      await requireRefused(`beside a new credential of the kind ${kind}`)
      assert.equal(await statusOf(options), 200)
    }
    assert.equal((await live()).length, 2)
    await plane.restart()
    await requireRefused('beside new credentials, after a restart')
    assert.equal((await live()).length, 2)
  })
})
