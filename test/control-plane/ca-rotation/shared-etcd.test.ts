import assert from 'node:assert/strict'
import {cp, mkdir, readFile, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {applyShared} from '../../../src/control-plane/ca-rotation/apply-shared.ts'
import type {
  Generation,
  Journal,
  UnitRecord,
} from '../../../src/control-plane/ca-rotation/journal.ts'
import {newJournal} from '../../../src/control-plane/ca-rotation/new-journal.ts'
import {
  readEtcdFiles,
  renewCopies,
  writeEtcdFiles,
} from '../../../src/control-plane/ca-rotation/shared-etcd.ts'
import {readShared} from '../../../src/control-plane/ca-rotation/share.ts'
import {findAuthority, leafOptions} from '../../../src/control-plane/certificates.ts'
import type {Plane} from '../../../src/control-plane/config/plane.ts'
import {ETCD_FILES} from '../../../src/control-plane/shared-certs.ts'
import {ensureAuthority} from '../../../src/pki/authority.ts'
import {encodeBundle, isSameBundle, parseBundle} from '../../../src/pki/bundle.ts'
import {AUTHORITIES, catalogFor} from '../../../src/pki/catalog.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {renewLeaf} from '../../../src/pki/leaf.ts'
import {isMatching} from '../../../src/pki/pair-store.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {systemClock} from '../../../src/runtime.ts'
import {testAuthority} from '../../pki/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {silent} from './support.ts'

const SERVERS = ['https://127.0.0.1:1']
/** Rotations of the CA of etcd, and of another one. */
const [ETCD, OTHERS] = ['etcd-ca', 'front-proxy-ca'].map((id) => ({
  units: [{id} as UnitRecord],
})) as [Pick<Journal, 'units'>, Pick<Journal, 'units'>]
const CLIENT = catalogFor({externalEtcd: true}).leaves.find(
  ({id}) => id === 'apiserver-etcd-client',
)

describe('the files for etcd on machines that have copies of them', () => {
  let owner: PlaneFixture
  let follower: PlaneFixture
  let lines: string[]
  const pki = ({dir}: PlaneFixture, name: string) => join(dir, 'pki', name)
  const log = (line: string) => lines.push(line)
  const saying = {journals: [OTHERS], log}
  const copies = () =>
    Promise.all(Object.values(ETCD_FILES).map((name) => readFile(pki(follower, name), 'utf8')))

  /** Signs the certificate that servers show to etcd again, as a rotation does. */
  const renew = async (plane: Plane) => {
    const authority = await findAuthority(plane, 'etcd-ca')
    assert.ok(authority && CLIENT)
    await renewLeaf(authority, CLIENT, await leafOptions(plane, CLIENT), systemClock)
  }
  const withEtcd = async (plane: Plane, files: Partial<Plane['settings']>): Promise<Plane> => {
    await mkdir(join(plane.dir, 'pki'), {recursive: true, mode: 0o700})
    return {...plane, settings: {...plane.settings, etcdServers: SERVERS, ...files}}
  }

  /** As a journal describes the CA of etcd on a machine. */
  const generation = async (machine: PlaneFixture): Promise<Generation> => {
    const certificate = parseCertificate(await readFile(pki(machine, 'etcd/ca.crt'), 'utf8'))
    return {pin: pinOf(certificate), fingerprint: certificate.fingerprint}
  }

  beforeEach(async () => {
    lines = []
    owner = await planeFixture()
    follower = await planeFixture({nodeName: 'two'})
    owner.context.plane = await withEtcd(owner.context.plane, {
      etcdCaFile: pki(owner, 'etcd/ca.crt'),
      etcdCertFile: pki(owner, 'apiserver-etcd-client.crt'),
      etcdKeyFile: pki(owner, 'apiserver-etcd-client.key'),
    })
    follower.context.plane = await withEtcd(follower.context.plane, {
      etcdCaFile: pki(follower, ETCD_FILES.etcdCaFile),
      etcdCertFile: pki(follower, ETCD_FILES.etcdCertFile),
      etcdKeyFile: pki(follower, ETCD_FILES.etcdKeyFile),
    })
    for (const spec of AUTHORITIES.filter(({id}) => id === 'etcd-ca'))
      await ensureAuthority(join(owner.dir, 'pki'), spec, {}, systemClock)
    await renew(owner.context.plane)
  })
  afterEach(async () => {
    await owner.remove()
    await follower.remove()
  })

  it('are those of the machine that has the CA of etcd, after each change there', async () => {
    const write = async () =>
      writeEtcdFiles(
        follower.context.plane,
        await readEtcdFiles(owner.context.plane, OTHERS),
        saying,
      )
    await write()
    const before = await copies()
    assert.equal(before[1], await readFile(pki(owner, 'apiserver-etcd-client.crt'), 'utf8'))
    assert.equal((await stat(pki(follower, ETCD_FILES.etcdKeyFile))).mode & 0o077, 0)
    await write()
    assert.equal(lines.length, 1)
    await renew(owner.context.plane)
    await write()
    const after = await copies()
    assert.equal(after[0], before[0])
    assert.notEqual(after[1], before[1])
    assert.notEqual(after[2], before[2])
  })

  it('come with what a rotation shares', async () => {
    for (const one of [owner, follower]) await one.run('certs')
    const {plane} = owner.context
    const journal = await newJournal(plane, undefined, {only: ['sa']}, systemClock.now())
    const shared = await readShared(plane, {...journal, shared: 1})
    await applyShared(follower.context.plane, shared, {clock: systemClock, log: silent})
    const [ca] = await copies()
    assert.equal(ca, await readFile(pki(owner, 'etcd/ca.crt'), 'utf8'))
  })

  it('keep the CAs that an operator has added, and drop those of the rotation', async () => {
    const {pem: own} = await testAuthority({commonName: 'own'})
    const {pem: ended} = await testAuthority({commonName: 'ended'})
    const {pem: before} = await testAuthority({commonName: 'ended before'})
    const {plane} = follower.context
    await writeFile(pki(follower, ETCD_FILES.etcdCaFile), [ended, own, before].join(''))
    const rotation = async (pem: string) => {
      const {fingerprint} = parseCertificate(pem)
      const record = {id: 'etcd-ca', old: {pin: '', fingerprint}, new: await generation(owner)}
      return {units: [record]}
    }
    const journals = [await rotation(ended), await rotation(before)]
    const write = async () =>
      writeEtcdFiles(plane, await readEtcdFiles(owner.context.plane, ETCD), {journals, log})
    await write()
    const [ca = ''] = await copies()
    assert.equal(
      ca,
      encodeBundle(parseBundle((await readFile(pki(owner, 'etcd/ca.crt'), 'utf8')) + own)),
    )
    await write()
    assert.equal(lines.length, 1)
  })

  it('are replaced as a whole if the CAs cannot be read', async () => {
    await writeFile(pki(follower, ETCD_FILES.etcdCaFile), 'damaged')
    const files = await readEtcdFiles(owner.context.plane, ETCD)
    await writeEtcdFiles(follower.context.plane, files, saying)
    assert.deepEqual(await copies(), Object.values(files))
  })

  it('stay if an operator has provided them elsewhere, and that is said', async () => {
    const elsewhere = pki(follower, 'mine.crt')
    await writeFile(elsewhere, 'mine')
    const {plane} = follower.context
    const other = {...plane, settings: {...plane.settings, etcdCaFile: elsewhere}}
    await writeEtcdFiles(other, await readEtcdFiles(owner.context.plane, OTHERS), saying)
    assert.equal(await readFile(elsewhere, 'utf8'), 'mine')
    await assert.rejects(copies())
    assert.match(lines.join(), /the files for etcd stay as they are/)
  })

  it('stay if what was shared does not belong together', async () => {
    const files = await readEtcdFiles(owner.context.plane, OTHERS)
    await renew(owner.context.plane)
    const {[ETCD_FILES.etcdKeyFile]: key = ''} = await readEtcdFiles(owner.context.plane, OTHERS)
    await writeEtcdFiles(follower.context.plane, {...files, [ETCD_FILES.etcdKeyFile]: key}, saying)
    await assert.rejects(copies())
    assert.match(lines.join(), /do not belong together/)
  })

  it('are shared only by a machine that has the CA of etcd', async () => {
    await writeEtcdFiles(
      follower.context.plane,
      await readEtcdFiles(owner.context.plane, OTHERS),
      saying,
    )
    assert.deepEqual(await readEtcdFiles(follower.context.plane, ETCD), {})
  })

  describe('if the machine that rotates has copies and the CA', () => {
    /** Another generation, beside the one that is there or instead of it. */
    const next = async (trusts: 'both' | 'new', signs: 'old' | 'new') => {
      const old = await readFile(pki(owner, 'etcd/ca.crt'), 'utf8')
      const [crt, key] = [pki(follower, 'etcd/ca.crt'), pki(follower, 'etcd/ca.key')]
      const fresh = await readFile(pki(another, 'etcd/ca.crt'), 'utf8')
      const order = signs === 'old' ? [old, fresh] : [fresh, old]
      await writeFile(crt, trusts === 'both' ? order.join('') : fresh)
      await cp(pki(signs === 'old' ? owner : another, 'etcd/ca.key'), key)
      return await readFile(crt, 'utf8')
    }
    const renewed = async (only = 'etcd-ca') => {
      const {plane} = follower.context
      const journal = await newJournal(plane, undefined, {only: [only]}, systemClock.now())
      for (const unit of journal.units)
        Object.assign(unit, {old: await generation(owner), new: await generation(another)})
      await renewCopies({plane, journal, clock: systemClock, tell: log})
      return await copies()
    }
    let another: PlaneFixture

    beforeEach(async () => {
      another = await planeFixture()
      await mkdir(join(another.dir, 'pki'), {mode: 0o700})
      for (const spec of AUTHORITIES.filter(({id}) => id === 'etcd-ca'))
        await ensureAuthority(join(another.dir, 'pki'), spec, {}, systemClock)
      const {plane} = follower.context
      await writeEtcdFiles(plane, await readEtcdFiles(owner.context.plane, OTHERS), {
        journals: [OTHERS],
        log: silent,
      })
      await cp(pki(owner, 'etcd'), pki(follower, 'etcd'), {recursive: true})
    })
    afterEach(() => another.remove())

    it('they are renewed in the same steps, and shared', async () => {
      const before = await copies()
      const both = await next('both', 'old')
      assert.deepEqual(await renewed(), [both, ...before.slice(1)])
      assert.deepEqual(lines, ['the copy of the CA of etcd was updated'])

      await next('both', 'new')
      const [, certificatePem = '', keyPem = ''] = await renewed()
      assert.ok(isMatching({certificatePem, keyPem}))
      const authority = await findAuthority(follower.context.plane, 'etcd-ca')
      const {authorityKeyId} = parseCertificate(certificatePem)
      assert.equal(authorityKeyId, authority?.certificate.subjectKeyId)

      const only = await next('new', 'new')
      assert.deepEqual(await renewed(), [only, certificatePem, keyPem])
      assert.deepEqual(
        Object.values(await readEtcdFiles(follower.context.plane, ETCD)),
        await copies(),
      )
    })

    it('the CAs that an operator has added stay', async () => {
      const {pem: own} = await testAuthority({commonName: 'own'})
      const file = pki(follower, ETCD_FILES.etcdCaFile)
      await writeFile(file, own, {flag: 'a'})
      await next('both', 'new')
      await renewed()
      const only = await next('new', 'new')
      const [ca = ''] = await renewed()
      assert.ok(isSameBundle(ca, only + own))
    })

    it('they stay, and are not shared, while only another CA rotates', async () => {
      const before = await copies()
      await next('both', 'new')
      assert.deepEqual(await renewed('sa'), before)
      assert.deepEqual(await readEtcdFiles(follower.context.plane, OTHERS), {})
    })

    it('they stay if another CA has signed them', async () => {
      const before = await copies()
      await next('new', 'new')
      assert.deepEqual(await renewed(), before)
      assert.deepEqual(await readEtcdFiles(follower.context.plane, ETCD), {})
    })
  })
})
