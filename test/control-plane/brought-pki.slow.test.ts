import assert from 'node:assert/strict'
import {chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {startEmbedded} from '../../src/control-plane/embedded.ts'
import {renewCertificates} from '../../src/control-plane/renew.ts'
import {reset} from '../../src/control-plane/reset.ts'
import {probe} from '../../src/control-plane/server-process.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {createIssuer, issueLeaf, type Issuer} from '../../src/pki/issuer.ts'
import {generateKeys, privateKeyPem, publicKeyPem} from '../../src/pki/keys.ts'
import {authorityValidity, validityFor} from '../../src/pki/lifetimes.ts'
import {NO_NAMES, namesOfHosts} from '../../src/pki/subject-names.ts'
import type {Usage} from '../../src/pki/usages.ts'
import {systemClock} from '../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

const DAY = 86_400_000
/** What kubeadm puts into a serving certificate: no localhost, no loopback address. */
const KUBEADM_NAMES = [
  ...['one', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
  ...['kubernetes.default.svc.cluster.local', '10.96.0.1', '192.0.2.10'],
]

/** A certificate folder as an older kubeadm leaves it. */
async function kubeadmFolder(certDir: string, serving = KUBEADM_NAMES): Promise<Issuer> {
  await mkdir(certDir, {recursive: true, mode: 0o700})
  const now = systemClock.now()
  const save = async (name: string, content: string) => {
    await writeFile(join(certDir, name), content)
    await chmod(join(certDir, name), 0o600)
  }
  const authority = async (name: string, commonName: string) => {
    const keys = await generateKeys()
    const validity = authorityValidity(now, 3650 * DAY)
    const pem = await createAuthorityCertificate({commonName}, keys, validity)
    await save(`${name}.crt`, pem)
    await save(`${name}.key`, privateKeyPem(keys.privateKey))
    return createIssuer(parseCertificate(pem), keys.privateKey)
  }
  const leaf = async (
    issuer: Issuer,
    name: string,
    subject: {commonName: string; organizations?: string[]},
    {hosts = [], usage = 'client auth'}: {hosts?: string[]; usage?: Usage} = {},
  ) => {
    const keys = await generateKeys()
    const pem = await issueLeaf(issuer, {
      subject,
      names: hosts.length === 0 ? NO_NAMES : namesOfHosts(hosts),
      publicKey: keys.publicKey,
      usages: ['digital signature', usage],
      validity: validityFor(now, 300 * DAY, issuer.certificate.notAfter),
    })
    await save(`${name}.crt`, pem)
    await save(`${name}.key`, privateKeyPem(keys.privateKey))
  }
  const ca = await authority('ca', 'kubernetes')
  const front = await authority('front-proxy-ca', 'front-proxy-ca')
  const server = {hosts: serving, usage: 'server auth' as Usage}
  await leaf(ca, 'apiserver', {commonName: 'kube-apiserver'}, server)
  await leaf(ca, 'apiserver-kubelet-client', {
    commonName: 'kube-apiserver-kubelet-client',
    organizations: ['system:masters'],
  })
  await leaf(front, 'front-proxy-client', {commonName: 'front-proxy-client'})
  const keys = await generateKeys()
  await save('sa.key', privateKeyPem(keys.privateKey))
  await save('sa.pub', publicKeyPem(keys.publicKey))
  return ca
}

async function contents(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']))
}

describe('a certificate folder that an operator brought', () => {
  let folder = ''
  let certDir = ''
  let fixture: PlaneFixture
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-brought-'))
    certDir = join(folder, 'kubernetes-pki')
  })
  afterEach(() => rm(folder, {recursive: true, force: true}))

  const open = () =>
    planeFixture(
      {certificatesDir: certDir, advertiseAddress: '192.0.2.10'},
      join(folder, 'plane'),
    ).then((made) => (fixture = made))
  const FILES = ['preflight', 'certs', 'kubeconfig'] as const

  it('stays as it was through init and reset, though kubeadm made its certificates otherwise', async () => {
    await kubeadmFolder(certDir)
    const before = await contents(certDir)
    await open()
    await fixture.run(...FILES)
    const {context} = fixture
    const after = await contents(certDir)
    for (const [name, text] of Object.entries(before)) assert.equal(after[name], text, name)
    assert.ok(fixture.lines.includes('"apiserver" is kept: you provided it, and it works'))
    await reset(context.plane)
    assert.deepEqual(await contents(certDir), before)
  })

  it('serves: this machine reaches its own server under the name that clients are told', async () => {
    await kubeadmFolder(certDir)
    await open()
    await fixture.run(...FILES)
    const {plane} = fixture.context
    const running = await startEmbedded(plane, {clock: systemClock, log: () => undefined})
    try {
      assert.equal((await probe(plane, '/readyz', running.port)).trim(), 'ok')
    } finally {
      await running.close(0)
    }
  })

  for (const [what, change, says] of [
    [
      'is for other names',
      () => kubeadmFolder(certDir, ['elsewhere.example']),
      /apiserver\.crt: it does not cover 192\.0\.2\.10/,
    ],
    [
      'has a key of another pair',
      async () => {
        await kubeadmFolder(certDir)
        await writeFile(join(certDir, 'apiserver.key'), await readFile(join(certDir, 'sa.key')))
      },
      /apiserver\.crt: its key does not belong to it/,
    ],
    [
      'is of another CA',
      async () => {
        await kubeadmFolder(certDir)
        const [crt, key] = ['apiserver.crt', 'apiserver.key'].map((name) => join(certDir, name))
        const pair = await Promise.all([readFile(crt ?? ''), readFile(key ?? '')])
        await kubeadmFolder(certDir)
        await writeFile(crt ?? '', pair[0])
        await writeFile(key ?? '', pair[1])
      },
      /apiserver\.crt: /,
    ],
  ] as const) {
    it(`is refused, and nothing is written, where a certificate ${what}`, async () => {
      await change()
      const before = await contents(certDir)
      await open()
      await assert.rejects(fixture.run(...FILES), {code: 'CERTIFICATE_INVALID', message: says})
      await assert.rejects(fixture.run('certs'), {code: 'CERTIFICATE_INVALID'})
      assert.deepEqual(await contents(certDir), before)
    })
  }

  it('has certificates that cannot be used replaced with --replace only, and a backup kept', async () => {
    await kubeadmFolder(certDir, ['elsewhere.example'])
    const before = await contents(certDir)
    await open()
    fixture.context.replacesBrought = true
    await fixture.run(...FILES)
    const after = await contents(certDir)
    const changed = Object.keys(before).filter((name) => before[name] !== after[name])
    assert.deepEqual(changed, ['apiserver.crt', 'apiserver.key'])
    const [stamp = ''] = await readdir(join(fixture.dir, 'backups'))
    const kept = Object.values(await contents(join(fixture.dir, 'backups', stamp)))
    assert.deepEqual(kept.sort(), changed.map((name) => before[name] ?? '').sort())
    await reset(fixture.context.plane)
    const left = await contents(certDir)
    assert.equal(left['apiserver.key'], undefined)
    assert.equal(left['sa.key'], before['sa.key'])
    assert.ok((await readdir(join(fixture.dir, 'backups', stamp))).length > 0)
  })

  it('keeps what it held when a certificate of it is renewed', async () => {
    await kubeadmFolder(certDir)
    const before = await contents(certDir)
    await open()
    await fixture.run(...FILES)
    const {backups} = await renewCertificates(fixture.context.plane, 'apiserver', systemClock)
    const kept = Object.values(await contents(backups[0] ?? ''))
    assert.deepEqual(
      kept.sort(),
      [before['apiserver.crt'] ?? '', before['apiserver.key'] ?? ''].sort(),
    )
  })

  it('gets a public half of its key for service accounts, and loses that alone by reset', async () => {
    await kubeadmFolder(certDir)
    await rm(join(certDir, 'sa.pub'))
    const before = await contents(certDir)
    await open()
    await fixture.run(...FILES)
    assert.ok((await contents(certDir))['sa.pub'])
    await reset(fixture.context.plane)
    assert.deepEqual(await contents(certDir), before)
  })

  it('beside a kubeconfig that was brought leaves that as it is, or says why not', async () => {
    await kubeadmFolder(certDir)
    await open()
    await fixture.run(...FILES)
    const admin = join(fixture.dir, 'admin.conf')
    const text = (await readFile(admin, 'utf8')).replace('192.0.2.10', 'elsewhere.example')
    await writeFile(admin, text)
    await assert.rejects(fixture.run('kubeconfig'), {
      code: 'CERTIFICATE_INVALID',
      message: /admin\.conf: it does not point to https:\/\/192\.0\.2\.10/,
    })
    assert.equal(await readFile(admin, 'utf8'), text)
  })
})
