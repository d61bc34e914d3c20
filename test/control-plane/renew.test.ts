import assert from 'node:assert/strict'
import {readFile, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {checkExpiration} from '../../src/control-plane/expiration.ts'
import {renewCertificates} from '../../src/control-plane/renew.ts'
import {catalogFor} from '../../src/pki/catalog.ts'
import {systemClock} from '../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

describe('renewal', () => {
  let fixture: PlaneFixture
  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
  })
  afterEach(() => fixture.remove())

  const plane = () => fixture.context.plane
  const read = (name: string) => readFile(join(fixture.dir, name), 'utf8')

  it('makes one certificate anew and leaves the others alone', async () => {
    const [server, admin] = [await read('pki/apiserver.crt'), await read('admin.conf')]
    const {renewed} = await renewCertificates(plane(), 'apiserver', systemClock)
    assert.deepEqual(
      renewed.map(({name}) => name),
      ['apiserver'],
    )
    assert.notEqual(await read('pki/apiserver.crt'), server)
    assert.equal(await read('admin.conf'), admin)
  })

  it('renews every certificate for "all", and no CA', async () => {
    const authority = await read('pki/ca.crt')
    const {renewed} = await renewCertificates(plane(), 'all', systemClock)
    assert.deepEqual(
      renewed.map(({name}) => name),
      catalogFor().leaves.map(({id}) => id),
    )
    assert.equal(await read('pki/ca.crt'), authority)
    const {certificates} = await checkExpiration(plane(), systemClock)
    assert.deepEqual(
      certificates.flatMap(({problems}) => problems),
      [],
    )
  })

  it('renews what has expired', async () => {
    const later = {now: () => new Date(systemClock.now().getTime() + 400 * 86_400_000)}
    const expired = await checkExpiration(plane(), later)
    assert.ok(expired.certificates.every(({residualSeconds}) => (residualSeconds ?? 0) < 0))
    await renewCertificates(plane(), 'all', later)
    const {certificates} = await checkExpiration(plane(), later)
    assert.ok(certificates.every(({residualSeconds}) => (residualSeconds ?? 0) > 0))
  })

  it('skips those whose CA has its key elsewhere, and says which', async () => {
    await rm(join(fixture.dir, 'pki/ca.key'))
    const {renewed, skipped} = await renewCertificates(plane(), 'all', systemClock)
    assert.deepEqual(
      renewed.map(({name}) => name),
      ['front-proxy-client'],
    )
    assert.ok(skipped.includes('apiserver'))
    const {certificates} = await checkExpiration(plane(), systemClock)
    assert.equal(certificates.find(({name}) => name === 'apiserver')?.externallyManaged, true)
  })

  it('says how to create one that is missing, for this folder', async () => {
    await assert.rejects(renewCertificates(plane(), 'etcd-peer', systemClock), {
      code: 'NOT_FOUND',
      suggestions: [
        `create those of an etcd with "trustadm init phase certs etcd --dir ${fixture.dir}"`,
      ],
    })
  })

  it('refuses a name that is none', async () => {
    await assert.rejects(renewCertificates(plane(), 'nonsense', systemClock), {code: 'USAGE'})
    await assert.rejects(
      renewCertificates(plane(), 'api-server', systemClock),
      (error: Error & {suggestions?: string[]}) =>
        error.suggestions?.[0] === 'did you mean "apiserver"?',
    )
  })
})
