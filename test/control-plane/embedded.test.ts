import assert from 'node:assert/strict'
import {X509Certificate} from 'node:crypto'
import {readFile, readdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect as connectTls} from 'node:tls'
import {findRecord} from '../../src/controllers/approval/record-store.ts'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {readServers} from '../../src/control-plane/server-identity.ts'
import {listIssuances, verifyIssuances} from '../../src/control-plane/issuances.ts'
import {certificatesNamed, lastEnds} from '../../src/control-plane/revocation/known-certificates.ts'
import {revokeCertificates} from '../../src/control-plane/revocation/revoke.ts'
import {renewCertificates} from '../../src/control-plane/renew.ts'
import {userKubeconfig} from '../../src/control-plane/user-kubeconfig.ts'
import {connect} from '../../src/client/connect.ts'
import {hasCode} from '../../src/errors.ts'
import {systemClock} from '../../src/runtime.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {VERSION} from '../../src/version.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

/** The serial number of the certificate that the server shows to a new caller. */
function serialShown(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({host: '127.0.0.1', port, rejectUnauthorized: false}, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

async function eventually<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const found = await read()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('it did not happen')
}

describe('the embedded control plane', () => {
  let fixture: PlaneFixture
  let embedded: EmbeddedPlane
  const problems: string[] = []
  const log = (line: string) => void problems.push(line)
  const start = () => startEmbedded(fixture.context.plane, {clock: systemClock, log})
  // It runs in this process and not as the server of the folder: that would be sent signals.
  const admin = () => connect(join(fixture.dir, 'super-admin.conf'))

  before(async () => {
    fixture = await planeFixture()
    fixture.context.connect = admin
    await fixture.provide('certs', 'kubeconfig')
    embedded = await start()
    await fixture.run('namespaces', 'rbac', 'cluster-info', 'bootstrap-token')
  })
  after(async () => {
    await embedded.close(0)
    await fixture.remove()
    assert.deepEqual(problems, [])
  })

  it('binds nothing that lets anybody but administrators create pods', async () => {
    const client = await admin()
    const bindings = [
      ...(await client.clusterRoleBindings.list()).items,
      ...(await client.roleBindings.list()).items,
    ]
    const subjects = bindings.flatMap(({metadata: {namespace = 'default'}, subjects = []}) =>
      subjects.map((subject) => ({namespace, ...subject})),
    )
    const allowed = new Set<string>()
    for (const {kind, name, namespace} of subjects) {
      const who =
        kind === 'Group'
          ? {user: 'somebody', groups: [name]}
          : {user: kind === 'User' ? name : `system:serviceaccount:${namespace}:${name}`}
      const review = await client.subjectAccessReviews.create({
        metadata: {},
        spec: {...who, resourceAttributes: {verb: 'create', resource: 'pods', namespace}},
      })
      if (review.status?.allowed === true) allowed.add(name)
    }
    assert.ok(subjects.length > 20)
    assert.deepEqual([...allowed].sort(), ['kubeadm:cluster-admins', 'system:masters'])
  })

  it('publishes the CA and a service account in every namespace, as controllers of their own', async () => {
    const client = await admin()
    await client.namespaces.create({metadata: {name: 'fresh'}})
    const map = await eventually(() =>
      client.configMaps.find({namespace: 'fresh', name: 'kube-root-ca.crt'}),
    )
    await eventually(() => client.serviceAccounts.find({namespace: 'fresh', name: 'default'}))
    const managers = (map.metadata.managedFields ?? []).map(({manager}) => manager)
    assert.deepEqual(managers, ['kube-controller-manager'])
    await client.close()
  })

  it('shows itself by a Lease, until it is stopped', async () => {
    const client = await admin()
    const [server, ...others] = await readServers(client, systemClock)
    assert.deepEqual([server?.version, server?.alive, others.length], [VERSION, true, 0])
    await embedded.close(0)
    const storage = await openLmdbStorage(fixture.dir, log)
    const {entries} = await storage.list('/registry/coordination.k8s.io/leases/')
    await storage.close()
    assert.deepEqual(entries, [])
    embedded = await start()
    await client.close()
  })

  it('carries over the records of names of an earlier release at its first start, and no others', async () => {
    const old = await planeFixture()
    const lines: string[] = []
    const record = (node: string) => ({
      metadata: {
        namespace: 'kube-system',
        name: `trustadm-node.${node}`,
        labels: {'trustadm.io/node-certificate': ''},
        annotations: {'trustadm.io/node-name': node},
      },
      spec: {holderIdentity: `sha256:${node}`},
    })
    const runOnce = async (node: string) => {
      const storage = await openLmdbStorage(old.dir, log)
      const {metadata, ...rest} = record(node)
      const times = {uid: node, creationTimestamp: '2026-01-01T00:00:00Z'}
      const key = `/registry/coordination.k8s.io/leases/kube-system/trustadm-node.${node}`
      const text = JSON.stringify({metadata: {...metadata, ...times}, ...rest})
      await storage.create(key, Buffer.from(text))
      await storage.close()
      const options = {clock: systemClock, log: (line: string) => void lines.push(line)}
      const plane = await startEmbedded(old.context.plane, options)
      const found = await findRecord(plane.client, node)
      await plane.close(0)
      return found?.holder
    }
    try {
      await old.provide('certs', 'kubeconfig')
      assert.equal(await runOnce('early'), 'sha256:early')
      assert.equal(await runOnce('late'), undefined)
      assert.deepEqual(lines, ['records of node names carried over from kube-system: 1'])
    } finally {
      await old.remove()
    }
  })

  it('gives the administrators of admin.conf their rights by RBAC', async () => {
    const client = await connect(join(fixture.dir, 'admin.conf'))
    const review = await client.selfSubjectAccessReviews.create({
      metadata: {},
      spec: {resourceAttributes: {verb: 'delete', resource: 'secrets'}},
    })
    assert.equal(review.status?.allowed, true)
    await client.close()
  })

  it('knows a user by the kubeconfig that was made for it', async () => {
    const content = await userKubeconfig(
      fixture.context.plane,
      {name: 'ada', groups: ['developers']},
      systemClock,
    )
    const client = await connect({content})
    const {status} = await client.selfSubjectReviews.create({metadata: {}})
    assert.equal(status?.userInfo?.username, 'ada')
    assert.deepEqual(status.userInfo.groups, ['developers', 'system:authenticated'])
    await assert.rejects(client.secrets.list(), {code: 'FORBIDDEN'})
    await client.close()
  })

  it('revokes a user by the issuance log, without the kubeconfig that was made for it', async () => {
    const {plane} = fixture.context
    const file = join(fixture.dir, 'eve.conf')
    const content = await userKubeconfig(
      plane,
      {name: 'eve', groups: ['system:masters']},
      systemClock,
    )
    await writeFile(file, content, {mode: 0o600})
    const eve = await connect(file)
    await eve.namespaces.get('default')

    const log = join(fixture.dir, 'logs', 'issuance.log')
    const keyFile = join(fixture.dir, 'issuance.key')
    const warn = (line: string) => {
      throw new Error(line)
    }
    const {entries} = await listIssuances(log, warn)
    const entry = entries.find((one) => 'commonName' in one && one.commonName === 'eve')
    assert.ok(entry && 'serial' in entry)
    const client = await admin()
    const sources = {client, log, warn}
    const {named} = await certificatesNamed(entry.serial ?? '', sources)
    assert.deepEqual(
      named.map(({user}) => user),
      ['eve'],
    )
    await revokeCertificates(client, named, {ends: await lastEnds(sources)}, systemClock)
    await eventually(async () => {
      const error = await eve.namespaces.get('default').catch((thrown: unknown) => thrown)
      return hasCode(error, 'UNAUTHORIZED') ? true : undefined
    })
    await verifyIssuances([{file: log, keyFile, requiresKey: true}], {warn})
    await eve.close()
  })

  it('shows a renewed certificate once it has reread its files', async () => {
    const before = await serialShown(embedded.port)
    await renewCertificates(fixture.context.plane, 'apiserver', systemClock)
    assert.equal(await serialShown(embedded.port), before)
    await embedded.reload()
    const file = await readFile(join(fixture.dir, 'pki/apiserver.crt'))
    assert.equal(await serialShown(embedded.port), new X509Certificate(file).serialNumber)
    assert.notEqual(await serialShown(embedded.port), before)
  })

  it('keeps the old certificates where the new ones cannot be read', async () => {
    const path = join(fixture.dir, 'pki/apiserver.crt')
    const good = await readFile(path)
    const shown = await serialShown(embedded.port)
    await writeFile(path, 'nonsense')
    try {
      await assert.rejects(embedded.reload())
      assert.equal(await serialShown(embedded.port), shown)
    } finally {
      await writeFile(path, good)
    }
  })

  it('refuses a second one on the same folder', async () => {
    await assert.rejects(start(), {code: 'STORE_LOCKED'})
  })

  it('keeps what was stored over a restart, on the same port', async () => {
    const client = await admin()
    await client.configMaps.create({metadata: {name: 'kept', namespace: 'default'}, data: {a: 'b'}})
    await client.close()
    const {port} = embedded
    await embedded.close(1000)
    embedded = await start()
    assert.equal(embedded.port, port)
    const again = await admin()
    const found = await again.configMaps.get({name: 'kept', namespace: 'default'})
    assert.deepEqual(found.data, {a: 'b'})
    await again.close()
  })

  it('writes no key into its logs', async () => {
    for (const name of await readdir(join(fixture.dir, 'logs'))) {
      assert.doesNotMatch(await readFile(join(fixture.dir, 'logs', name), 'utf8'), /PRIVATE KEY/)
    }
  })
})
