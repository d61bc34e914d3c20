import assert from 'node:assert/strict'
import {readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect, connectTo} from '../../src/client/connect.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {parseKubeconfig} from '../../src/client/kubeconfig.ts'
import type {AuthorityReport} from '../../src/control-plane/ca-rotation/authorities.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {authorityValidity} from '../../src/pki/lifetimes.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {eventually} from '../controllers/signing/support.ts'
import {joinBy, joinFixture, parseResult, type JoinFixture} from '../helpers/joining.ts'
import {cutPower} from '../helpers/power-cut.ts'
import {trustadm} from '../helpers/program.ts'
import {rotateIn} from '../helpers/rotating.ts'
import {isBelieved, requestToken} from '../helpers/service-account-tokens.ts'

const MAP = {namespace: 'kube-system', name: 'trustadm-ca-rotation'}
const OPERATION = 'trustadm.io/operation'
const DAY = 86_400_000

describe('what happens around a rotation of the CAs', function () {
  this.timeout(180_000)
  let fixture: JoinFixture
  let old: string
  const own = (name: string) => join(fixture.dir, name)
  const rotate = (action: string, ...more: string[]) => rotateIn(fixture.dir, action, ...more)
  const authorities = async () =>
    (
      parseResult(await trustadm('ca', 'list', '--dir', fixture.dir, '-o', 'json')) as {
        authorities: AuthorityReport[]
      }
    ).authorities
  const withAdmin = async <Result>(work: (client: ApiClient) => Promise<Result>) => {
    const client = await connect(own('super-admin.conf'))
    try {
      return await work(client)
    } finally {
      await client.close()
    }
  }

  /** The CA of a node's client certificate. */
  const issuerOf = async (name: string) => {
    const file = join(fixture.nodeDir(name), 'pki/kubelet-client-current.pem')
    return parseCertificate(await readFile(file, 'utf8')).issuer.commonName
  }

  beforeEach(async () => {
    fixture = await joinFixture()
    old = await readFile(own('pki/ca.crt'), 'utf8')
  })
  afterEach(() => fixture.remove())

  it('old join lines work, other commands undo nothing, and the grace lets old clients verify', async () => {
    assert.equal((await rotate('start', '--yes')).code, 0)
    // The line pins only the old CA.
    const joined = await joinBy(fixture, 'token', 'late')
    assert.equal(joined.code, 0, joined.stderr)
    const issuer = await issuerOf('late')
    assert.match(issuer, /^kubernetes-client-ca@/)
    const record = {namespace: 'trustadm-system', name: 'trustadm-node.late'}
    const {data} = await withAdmin((client) => client.configMaps.get(record))
    assert.equal(data?.issuer, `CN=${issuer}`)

    const robot = ['--client-name', 'robot', '--token-file', fixture.tokenFile]
    const withToken = await trustadm('kubeconfig', 'user', ...robot, '--dir', fixture.dir)
    assert.equal(withToken.code, 0, withToken.stderr)
    const {ca = ''} = await resolveAccess(parseKubeconfig(withToken.stdout))
    // The new CA is there as certified by the old one, too.
    const pinsIn = (pem: string) => new Set(parseBundle(pem).map(pinOf))
    assert.deepEqual(pinsIn(ca), pinsIn(await readFile(own('pki/ca.crt'), 'utf8')))
    assert.equal(pinsIn(ca).size, 2)

    const before = await authorities()
    for (const args of [['init'], ['certificate', 'renew', 'all'], ['init', 'phase', 'certs']]) {
      const {code, stderr} = await trustadm(...args, '--dir', fixture.dir)
      assert.equal(code, 0, stderr)
    }
    const pins = (all: AuthorityReport[]) =>
      all.map(({name, certificates}) => [name, certificates.map(({pin}) => pin)])
    assert.deepEqual(pins(await authorities()), pins(before))
    const serving = parseCertificate(await readFile(own('pki/apiserver.crt'), 'utf8'))
    assert.equal(serving.issuer.commonName, 'kubernetes')

    const completed = await rotate(
      'complete',
      '--yes',
      '--grace',
      '24h',
      '--ignore',
      'late,replaced-here',
    )
    assert.equal(completed.code, 0, completed.stderr)
    const stale = connectTo({server: fixture.made.endpoint, ca: old}, {retry: {attempts: 1}})
    assert.ok(await stale.version())
    await stale.close()
    // A renewal in the meantime keeps that.
    assert.equal(
      (await trustadm('certificate', 'renew', 'apiserver', '--dir', fixture.dir)).code,
      0,
    )
    assert.equal((await readFile(own('pki/apiserver.crt'), 'utf8')).match(/BEGIN/g)?.length, 2)
    for (const command of ['status', 'certificate check-expiration', 'ca rotate status']) {
      const {stdout} = await trustadm(...command.split(' '), '--dir', fixture.dir)
      assert.match(stdout.replaceAll(/\s+/g, ' '), /last completed 20\d\d-/, command)
    }
    const audit = await readFile(own('logs/audit.log'), 'utf8')
    assert.ok(audit.includes('configmaps/trustadm-ca-rotation-overrides'))
  })

  it('a node that was off is named, is refused after a forced completion, and joins again', async () => {
    const admin = await readFile(own('admin.conf'), 'utf8')
    assert.equal((await joinBy(fixture, 'token', 'off')).code, 0)
    assert.equal((await rotate('start', '--yes')).code, 0)
    const refused = await rotate('complete', '--yes')
    assert.equal(refused.code, 6)
    assert.match(refused.stderr, /node off: /)
    assert.equal((await rotate('complete', '--yes', '--force')).code, 0)
    const dir = fixture.nodeDir('off')
    const renewed = await trustadm('node', 'renew', '--dir', dir)
    assert.equal(renewed.code, 3)
    assert.match(renewed.stderr, /presents a certificate of a CA that this machine does not trust/)

    const oldFile = join(fixture.folder, 'old-admin.conf')
    await writeFile(oldFile, admin, {mode: 0o600})
    const stale = await trustadm('token', 'list', '--kubeconfig', oldFile)
    assert.equal(stale.code, 3)
    assert.match(stale.stderr, /older than a rotation of the CA[^]*get a new kubeconfig/)
    const unpinned = await joinBy(fixture, 'token', 'fresh')
    assert.equal(unpinned.code, 3)
    assert.match(unpinned.stderr, /not the pinned one[^]*rotated[^]*--print-join-command/)

    const made = await trustadm('token', 'create', '--print-join-command', '--dir', fixture.dir)
    const [, , ...line] = made.stdout.trim().split(' ')
    const joinAgain = (...more: string[]) =>
      trustadm('join', ...line, '--dir', dir, '--node-name', 'off', ...more)
    const kept = await joinAgain()
    assert.equal(kept.code, 6)
    assert.match(kept.stderr, /rotated while this machine was off[^]*node leave --dir/)
    assert.equal((await trustadm('node', 'leave', '--yes', '--dir', dir)).code, 0)
    // The name belongs to the key from before.
    const held = await joinAgain('--timeout', '3s')
    assert.equal(held.code, 5, held.stderr)
    const [, pin = ''] = /allow-rejoin off --pin (sha256:[0-9a-f]{64})/.exec(held.stderr) ?? []
    const allow = ['certificate', 'allow-rejoin', 'off', '--pin', pin, '--dir', fixture.dir]
    assert.equal((await trustadm(...allow)).code, 0)
    const joined = await joinAgain()
    assert.equal(joined.code, 0, joined.stderr)
    assert.match(await issuerOf('off'), /^kubernetes-client-ca@/)
  })

  it('annotations trigger it, and unknown ones are refused', async () => {
    const annotate = (value: string, ignored?: string) =>
      withAdmin(async (client) => {
        const found = await client.configMaps.find(MAP)
        const names = ignored === undefined ? {} : {[`${OPERATION}-ignore`]: ignored}
        const annotations = {[OPERATION]: value, ...names}
        const metadata = {...(found?.metadata ?? MAP), annotations}
        if (found) await client.configMaps.update({...found, metadata})
        else await client.configMaps.create({metadata})
      })
    const map = () => withAdmin((client) => client.configMaps.get(MAP))
    await annotate('make-coffee')
    await eventually(async () => (await map()).metadata.annotations?.[OPERATION] === undefined)
    assert.match(
      (await map()).metadata.annotations?.[`${OPERATION}-refused`] ?? '',
      /make-coffee: unknown/,
    )
    await annotate('start-ca-rotation')
    await eventually(async () =>
      /id: nodes\n.*\n\s+state: done/.test((await map()).data?.status ?? ''),
    )
    assert.match((await map()).data?.status ?? '', /phase: Prepare/)
    await annotate('start-ca-rotation')
    await eventually(async () =>
      (await map()).metadata.annotations?.[`${OPERATION}-refused`]?.includes('in progress'),
    )
    await annotate('complete-ca-rotation')
    await eventually(async () =>
      (await map()).metadata.annotations?.[`${OPERATION}-refused`]?.includes('replaced-here'),
    )
    await annotate('complete-ca-rotation', 'replaced-here, kubernetes-super-admin')
    await eventually(async () => ((await map()).data?.status ?? '').includes('phase: Completed'))
    assert.equal((await map()).metadata.annotations?.[`${OPERATION}-ignore`], undefined)
  })

  it('reset leaves nothing of it, before and after its end', async () => {
    assert.equal((await rotate('start', '--yes', '--only', 'front-proxy-ca')).code, 0)
    assert.equal((await rotate('complete', '--yes')).code, 0)
    assert.equal((await rotate('start', '--yes', '--only', 'front-proxy-ca')).code, 0)
    assert.equal((await trustadm('reset', '--yes', '--dir', fixture.dir)).code, 0)
    await assert.rejects(readdir(fixture.dir), {code: 'ENOENT'})
  })

  it('tokens of service accounts change with it', async () => {
    const tokenOf = () =>
      withAdmin(async (client) => {
        await eventually(() => client.serviceAccounts.find('default/default'))
        return requestToken(client)
      })
    const isStillBelieved = async (token: string) =>
      isBelieved(
        {server: fixture.made.endpoint, ca: await readFile(own('pki/ca.crt'), 'utf8')},
        token,
      )
    const early = await tokenOf()
    await withAdmin((client) =>
      client.secrets.create({
        metadata: {
          name: 'robot',
          namespace: 'default',
          annotations: {'kubernetes.io/service-account.name': 'default'},
        },
        type: 'kubernetes.io/service-account-token',
      }),
    )
    const stored = async () =>
      Buffer.from(
        (await withAdmin((client) => client.secrets.get('default/robot'))).data?.token ?? '',
        'base64',
      ).toString()
    const first = await eventually(async () => (await stored()) || undefined)
    assert.equal((await rotate('start', '--yes', '--only', 'sa')).code, 0)
    const second = await stored()
    assert.notEqual(second, first)
    const late = await tokenOf()
    for (const token of [late, second, first, early])
      assert.equal(await isStillBelieved(token), true)
    const account = 'system:serviceaccount:default:default'
    const refused = await rotate('complete', '--yes')
    assert.equal(refused.code, 6)
    assert.ok(refused.stderr.includes(`token ${account}`), refused.stderr)
    assert.equal((await rotate('complete', '--yes', '--ignore', account)).code, 0)
    assert.deepEqual(await Promise.all([early, first, second, late].map(isStillBelieved)), [
      false,
      false,
      true,
      true,
    ])
  })

  it('whom the server has forgotten is named, and nobody is locked out without a word', async () => {
    assert.equal((await rotate('start', '--yes')).code, 0)
    const restart = async (signal: NodeJS.Signals, between = () => Promise.resolve()) => {
      if (signal === 'SIGKILL') cutPower(fixture.dir)
      else process.kill(await fixture.serverPid(), signal)
      await eventually(async () => (await rotate('status')).code !== 0)
      await between()
      assert.equal((await trustadm('init', '--dir', fixture.dir)).code, 0)
    }
    await restart('SIGKILL')
    const dependents = async () =>
      (parseResult(await rotate('status')) as {dependents: {name: string}[]}).dependents
    // Killed and started again, the server knows its clients.
    assert.deepEqual(
      (await dependents()).map(({name}) => name),
      ['replaced-here'],
    )
    await restart('SIGTERM', () => rm(own('seen-clients.json')))
    const names = ['forgotten-clients', 'forgotten-tokens']
    const replaced = 'replaced-here'
    assert.deepEqual(
      (await dependents()).map(({name}) => name),
      [...names, replaced],
    )
    const refused = await rotate('complete', '--yes')
    assert.equal(refused.code, 6)
    assert.match(refused.stderr, /clients may have been forgotten: .* begins at 20/)
    const ignore = [...names, replaced].flatMap((name) => ['--ignore', name])
    assert.equal((await rotate('complete', '--yes', ...ignore)).code, 0)
    const recorded = await withAdmin((client) =>
      client.configMaps.get({namespace: 'kube-system', name: 'trustadm-ca-rotation-overrides'}),
    )
    assert.match(recorded.data?.overrides ?? '', /forgotten-clients/)
  })

  it('a CA whose key is elsewhere is refused before anything is written, or brought along', async () => {
    await rm(own('pki/front-proxy-ca.key'))
    const refused = await rotate('start', '--yes')
    assert.deepEqual([refused.code, refused.stderr.includes('front-proxy-ca')], [1, true])
    await assert.rejects(readFile(own('ca-rotation.json')))
    const keys = await generateKeys()
    const validity = authorityValidity(new Date(), 60 * DAY)
    await writeFile(
      own('next.crt'),
      await createAuthorityCertificate({commonName: 'brought'}, keys, validity),
    )
    await writeFile(own('next.key'), privateKeyPem(keys.privateKey), {mode: 0o600})
    const brought = `front-proxy-ca=${own('next.crt')},${own('next.key')}`
    const only = ['--only', 'front-proxy-ca', '--new-ca', brought]
    const started = await rotate('start', '--yes', ...only)
    assert.equal(started.code, 0, started.stderr)
    assert.equal((await rotate('complete', '--yes')).code, 0)
    const found = (await authorities()).find(({name}) => name === 'front-proxy-ca')
    assert.deepEqual(
      found?.certificates.map(({subject}) => subject),
      ['CN=brought'],
    )
  })

  it('is refused for other clusters, for unknown CAs, and if the gate is off', async () => {
    assert.equal((await rotate('start', '--yes', '--kubeconfig', own('admin.conf'))).code, 2)
    assert.equal((await rotate('start', '--yes', '--only', 'coffee-ca')).code, 2)
    assert.equal((await rotate('complete', '--yes')).code, 6)
    const config = await readFile(own('config.yaml'), 'utf8')
    await writeFile(own('config.yaml'), `${config}featureGates: {CARotation: false}\n`)
    const refused = await rotate('start', '--yes')
    assert.equal(refused.code, 4)
    assert.match(refused.stderr, /CARotation/)
  })
})
