import assert from 'node:assert/strict'
import {readFile, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connectTo} from '../../../src/client/connect.ts'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import type {ServerAccess} from '../../../src/client/server-access.ts'
import {readJournal, type Action} from '../../../src/control-plane/ca-rotation/journal.ts'
import {withClient} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {trustSources} from '../../../src/control-plane/signing.ts'
import {whoAmI} from '../../../src/node/acceptance.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {verifyChain} from '../../../src/pki/verify.ts'
import {systemClock} from '../../../src/runtime.ts'
import {readTrust} from '../../../src/trust/read-trust.ts'
import {FailingDisk, type End} from '../../helpers/failing-disk.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

/** They cover each way in which files change: servers, clients that are separated from them, and keys. */
const ONLY = ['ca', 'sa']

describe('a rotation of the CAs that ends at any place', function () {
  this.timeout(300_000)
  let fixture: PlaneFixture
  let stop: () => Promise<void>
  let disk: FailingDisk
  let first: ServerAccess

  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    stop = await serveFixture(fixture)
    first = await current()
    disk = await FailingDisk.of(fixture.dir)
  })
  afterEach(async () => {
    disk.remove()
    await stop()
  })

  const current = async () =>
    resolveAccess(await loadKubeconfig(join(fixture.dir, 'super-admin.conf')))
  /** The old kubeconfig of the super administrator is in use until the completion. */
  const context = () => {
    const ordinary = contextFor(fixture.context.plane)
    return {...ordinary, ignored: [...ordinary.ignored, 'kubernetes-super-admin']}
  }
  const act = (action: Action) => rotate(context(), action, {wait: false, only: ONLY, observer})

  /** A server that starts now accepts the client, and the client accepts that server. */
  const requireTrusted = async ({ca = '', clientCertificate}: ServerAccess, what: string) => {
    const trust = await readTrust(await trustSources(fixture.context.plane), 1)
    const now = systemClock.now()
    const client = verifyChain(parseCertificate(clientCertificate?.certificate ?? ''), {
      roots: trust.bundles.client.certificates,
      usage: 'client auth',
      now,
    })
    assert.deepEqual(client.ok ? '' : client.reason, '', `${what}: the client`)
    const [serving, ...intermediates] = parseBundle(trust.serving.certificate)
    assert.ok(serving)
    const server = verifyChain(serving, {
      intermediates,
      roots: parseBundle(ca),
      usage: 'server auth',
      now,
    })
    assert.deepEqual(server.ok ? '' : server.reason, '', `${what}: the server`)
  }
  const requireAccepted = async (access: ServerAccess, what: string) => {
    const client = connectTo(access, {retry: {attempts: 1}})
    try {
      assert.equal(await whoAmI(client), 'kubernetes-super-admin', what)
    } finally {
      await client.close()
    }
  }

  /** Runs the action until it is not ended any more. After each end, old or new credentials work. */
  const endEverywhere = async (end: End, action: Action, alsoAccepted?: ServerAccess) => {
    let [ends, checked] = [0, '']
    while (await disk.run(end, () => act(action))) {
      ends += 1
      if (disk.state() === checked) continue
      checked = disk.state()
      const journal = await readJournal(fixture.context.plane)
      const {running: step = 'no step', done = []} = journal ?? {}
      const what = `${action} at ${step} after ${done.length} steps`
      const accesses = [await current(), ...(alsoAccepted ? [alsoAccepted] : [])]
      for (const access of accesses) {
        await requireTrusted(access, what)
        await requireAccepted(access, what)
      }
      // All that was left to it was to release its lock. The same command again would begin another rotation, or be refused.
      if (journal?.action === action && journal.isShown) return ends
    }
    return ends
  }
  const UPLOADED = {namespace: 'kube-system', name: 'kubeadm-certs'}
  const withAdmin = <Result>(work: (client: ApiClient) => Promise<Result>) =>
    withClient(context(), work)
  const upload = () => withAdmin(({secrets}) => secrets.create({metadata: UPLOADED}))
  const isUploaded = async () =>
    (await withAdmin(({secrets}) => secrets.find(UPLOADED))) !== undefined
  const phase = async () => (await readJournal(fixture.context.plane))?.phase
  const leftovers = async () => {
    const names = await readdir(join(fixture.dir, 'pki'))
    return names.filter((name) => name.startsWith('.') || name === 'rotation')
  }

  for (const end of ['kill', 'full-disk'] as const) {
    it(`is completed by the next run: ${end}`, async () => {
      const started = await endEverywhere(end, 'start', first)
      assert.equal(await phase(), 'Prepare')
      await requireAccepted(first, 'after the start')
      await upload()
      const completed = await endEverywhere(end, 'complete')
      assert.equal(await phase(), 'Completed')
      await requireTrusted(await current(), 'after the completion')
      await assert.rejects(requireTrusted(first, 'after the completion'))
      assert.deepEqual(await leftovers(), [])
      assert.equal(await isUploaded(), false)
      assert.ok(started > 80 && completed > 80, `${started}, ${completed}`)
    })

    it(`is undone by the next run: ${end}`, async () => {
      const before = await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8')
      await act('start')
      await upload()
      const aborted = await endEverywhere(end, 'abort', first)
      assert.equal(await phase(), undefined)
      await requireAccepted(first, 'after the abort')
      assert.equal(await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8'), before)
      assert.deepEqual(await leftovers(), [])
      assert.equal(await isUploaded(), false)
      assert.ok(aborted > 80, String(aborted))
    })
  }
})
