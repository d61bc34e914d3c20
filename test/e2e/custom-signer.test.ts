import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {parse, stringify} from 'yaml'
import {parseBundle} from '../../src/pki/bundle.ts'
import {privateKeyPem} from '../../src/pki/keys.ts'
import {verifyChain} from '../../src/pki/verify.ts'
import {programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'
import {testAuthority, validAround, type TestAuthority} from '../pki/support.ts'
import {until} from '../server/support.ts'

const SIGNER = 'example.com/services'
const HOUR = 3_600_000

describe('a signer that an operator adds', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  let ca: TestAuthority

  const certificate = (...args: string[]) =>
    trustadm('certificate', ...args, '--kubeconfig', join(fixture.dir, 'admin.conf'))
  const request = (name: string, ...args: string[]) =>
    certificate('request', name, '--signer', SIGNER, '--out', fixture.folder, ...args)
  const serverLog = () => readFile(join(fixture.dir, 'logs', 'server.log'), 'utf8')

  /** Edits config.yaml as an operator does, and waits until the server has read it. */
  async function configure(signer: object): Promise<string> {
    const path = join(fixture.dir, 'config.yaml')
    const config = parse(await readFile(path, 'utf8')) as object
    await writeFile(path, stringify({...config, signers: [signer]}), {mode: 0o600})
    const before = (await serverLog()).length
    process.kill(await fixture.serverPid(), 'SIGHUP')
    const added = async () => (await serverLog()).slice(before)
    await until(async () => (await added()).includes('\n'))
    return await added()
  }

  /** Approves the request once it is there. */
  async function approve(name: string): Promise<void> {
    await until(async () => (await certificate('approve', name, '--yes')).code === 0)
  }

  const settings = () => ({
    name: SIGNER,
    certificate: join(fixture.folder, 'services.crt'),
    key: join(fixture.folder, 'services.key'),
    usages: ['digital signature', 'server auth'],
    commonName: '*.example.com',
    names: ['dns'],
    maxValidityPeriod: '24h',
  })

  before(async () => {
    fixture = await programFixture()
    assert.equal((await fixture.init()).code, 0)
    ca = await testAuthority({commonName: 'services', validity: validAround(new Date(), 30)})
    await writeFile(settings().certificate, ca.pem)
    await writeFile(settings().key, privateKeyPem(ca.keys.privateKey), {mode: 0o600})
    assert.doesNotMatch(await configure(settings()), /error/)
  })
  after(() => fixture.remove())

  it('issues a certificate once it was approved', async () => {
    const asking = request('web', '--service', 'web.example.com')
    await approve('web')
    const {code, stderr} = await asking
    assert.equal(code, 0, stderr)
    const [leaf] = parseBundle(await readFile(join(fixture.folder, 'web.crt'), 'utf8'))
    assert.ok(leaf)
    assert.equal(leaf.issuer.commonName, 'services')
    assert.deepEqual(leaf.names.dns, ['web.example.com'])
    assert.equal(leaf.isAuthority, false)
    assert.equal(leaf.notAfter.getTime() - leaf.notBefore.getTime(), 24 * HOUR)
    const roots = parseBundle(ca.pem)
    assert.ok(verifyChain(leaf, {roots, usage: 'server auth', now: new Date()}).ok)
  })

  it('refuses what its rules do not permit, and says what they expect', async () => {
    const asking = request('rogue', '--service', 'rogue.example.org', '--usages', 'client auth')
    await approve('rogue')
    const {code, stderr} = await asking
    assert.equal(code, 1)
    assert.match(stderr, /the common name is "rogue\.example\.org" \(expected: .*\*\.example\.com/)
    assert.match(stderr, /not permitted: "client auth"/)
  })

  it('is not taken with a CA that the cluster trusts, unless the operator says so', async () => {
    const own = {certificate: 'pki/ca.crt', key: 'pki/ca.key'}
    const refusal = await configure({...settings(), ...own})
    assert.match(refusal, /example\.com\/services: the CA in .* is trusted for api-server, client/)
    const trusted = {...settings(), ...own, trustedFor: ['api-server', 'client']}
    assert.doesNotMatch(await configure(trusted), /error/)
    const {code, stderr} = await request('root', '--user', 'x', '--group', 'system:masters')
    assert.equal(code, 4)
    assert.match(stderr, /system:masters group is not allowed/)
  })
})
