import assert from 'node:assert/strict'
import {hostname} from 'node:os'
import type {ApiClient} from '../../src/client/api-client.ts'
import {
  collectExpired,
  leaseNameOf,
  readServers,
  startIdentity,
  type KnownServer,
} from '../../src/control-plane/server-identity.ts'
import {switchedOff} from '../../src/controllers/index.ts'
import {EMBEDDED_CONTROLLERS} from '../../src/controllers/catalog.ts'
import {selectControllers} from '../../src/controllers/selection.ts'
import {complete} from '../../src/control-plane/config/settings.ts'
import {parseCache} from '../../src/control-plane/lease-report.ts'
import {digestsOf} from '../../src/control-plane/server-digests.ts'
import {differencesOf, lossesOf, problemsOf} from '../../src/control-plane/server-problems.ts'
import {systemClock} from '../../src/runtime.ts'
import {VERSION} from '../../src/version.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const namespace = 'kube-system'
const TRUST = {authorities: new Map(), tokenKeys: {signing: {id: ''}, verification: []}} as never
const HOUR = 3_600_000
const at = (milliseconds: number) => ({now: () => new Date(Date.now() + milliseconds)})

describe('the Lease of a server', () => {
  let server: TestServer
  let client: ApiClient
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  let settings = complete('/srv', {})
  let chosen: string[] | undefined
  let shown: {head?: string; problem?: string} = {}
  const start = async (identity: string, clock = systemClock) => {
    const report = () => ({
      digests: digestsOf(settings, TRUST, switchedOff(chosen)),
      cache: {revision: 812, age: 3000},
      issuanceLog: shown,
      generation: 7,
      address: 'https://192.0.2.1:6443',
    })
    const one = startIdentity(client, {identity, report, clock, onError})
    await one.shown
    return one
  }

  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  afterEach(async () => {
    await server.stop()
    assert.deepEqual(errors, [])
  })

  it('is named as by kube-apiserver', () => {
    // Made with another program: base32 of the first 16 bytes of the SHA-256.
    assert.equal(leaseNameOf('test-host'), 'apiserver-zaglfayibik567dygyfh7vm4h4')
  })

  it('has the labels, holder and duration of kube-apiserver, and the version', async () => {
    const one = await start('one')
    const name = leaseNameOf('one')
    const {metadata, spec} = await client.leases.get({namespace, name})
    assert.equal(metadata.labels?.['apiserver.kubernetes.io/identity'], 'kube-apiserver')
    assert.equal(metadata.labels['kubernetes.io/hostname'], hostname())
    assert.match(spec?.holderIdentity ?? '', new RegExp(`^${name}_[0-9a-f-]{36}$`))
    assert.equal(spec?.leaseDurationSeconds, 3600)
    const [known] = await readServers(client, systemClock)
    assert.deepEqual([known?.name, known?.version, known?.alive], [name, VERSION, true])
    await one.stop()
    assert.equal(await client.leases.find({namespace, name}), undefined)
  })

  it('shows how old the memory of the server is, and nothing that cannot be read', async () => {
    const one = await start('one')
    const [known] = await readServers(client, at(4500))
    assert.equal(known?.cache?.revision, 812)
    const age = Date.parse(known.renewedAt ?? '') - Date.parse(known.cache.confirmedAt)
    assert.ok(Math.abs(age - 3000) < 1000, `${age}`)
    assert.ok(known.cache.ageSeconds >= 7, `${known.cache.ageSeconds}`)
    await one.stop()
    for (const text of [undefined, '', 'null', '{}', '{"revision":"1","confirmedAt":1}'])
      assert.equal(parseCache(text, new Date(0)), null)
    assert.equal(parseCache('{"revision":1,"confirmedAt":"never"}', new Date(0)), null)
  })

  it('shows the newest line of the issuance log, and that lines are gone', async () => {
    shown = {head: 'a:1:b', problem: 'the issuance log lacks a line'}
    const one = await start('one')
    const known = await readServers(client, systemClock)
    assert.deepEqual(known[0]?.issuanceLog, shown)
    assert.deepEqual(lossesOf(known), [`${hostname()}: the issuance log lacks a line`])
    await one.stop()
    shown = {}
  })

  it('is taken over by the next process of the same server, which the one before leaves alone', async () => {
    const before = await start('one', at(-HOUR))
    const next = await start('one')
    await before.stop()
    const servers = await readServers(client, systemClock)
    assert.deepEqual(
      servers.map(({ageSeconds}) => (ageSeconds ?? Infinity) < 60),
      [true],
    )
    await next.stop()
  })

  it('is deleted once it has expired, and no other one is', async () => {
    await client.leases.create({
      metadata: {namespace, name: 'other'},
      spec: {leaseDurationSeconds: 1},
    })
    const gone = await start('gone', at(-HOUR - 60_000))
    const silent = await start('silent', at(-HOUR + 60_000))
    const ages = async () =>
      (await readServers(client, systemClock)).map(({name, alive}) => [name, alive])
    assert.deepEqual(await ages(), [
      [leaseNameOf('gone'), false],
      [leaseNameOf('silent'), false],
    ])
    await collectExpired(client, systemClock)
    assert.deepEqual(await ages(), [[leaseNameOf('silent'), false]])
    assert.ok(await client.leases.find({namespace, name: 'other'}))
    // A server that starts collects too.
    const third = await start('third', at(HOUR))
    while ((await ages()).length > 1) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual(await ages(), [[leaseNameOf('third'), true]])
    await Promise.all([gone.stop(), silent.stop(), third.stop()])
  })

  it('names a server of an earlier version, which reads the records of names in kube-system', async () => {
    const one = await start('one')
    const name = leaseNameOf('one')
    const servers = await readServers(client, systemClock)
    assert.deepEqual(problemsOf(servers), [])
    const old = servers.map((server) => ({...server, hostname: 'cp-1', records: null}))
    assert.match(problemsOf(old).join(), /^cp-1 still reads the records of node names in kube-syst/)
    // One that is gone reads nothing, and kube-apiserver never has.
    assert.deepEqual(problemsOf(old.map((server) => ({...server, alive: false}))), [])
    assert.deepEqual(problemsOf(old.map((server) => ({...server, version: null}))), [])
    assert.deepEqual(
      servers.map((server) => server.name),
      [name],
    )
    await one.stop()
  })

  it('shows which settings differ, and not the settings', async () => {
    const one = await start('one')
    settings = complete('/srv', {servingCIDRs: ['192.0.2.0/24'], nodeName: 'two', bindPort: 7000})
    const two = await start('two')
    const servers = await readServers(client, systemClock)
    assert.deepEqual(problemsOf(servers), ['the servers have different servingCIDRs'])
    const [difference, ...others] = differencesOf(servers)
    assert.deepEqual([difference?.name, others], ['servingCIDRs', []])
    const digests = servers.map(({name, digests}) => [name, digests.servingCIDRs])
    assert.deepEqual(difference?.values, Object.fromEntries(digests))
    const shown = JSON.stringify(await client.leases.list({namespace}))
    assert.equal(shown.includes('192.0.2.0'), false)
    const [first, second] = servers as [KnownServer, KnownServer]
    assert.deepEqual(differencesOf([first, {...second, digests: {}}]), [])
    await Promise.all([one.stop(), two.stop()])
  })

  it('shows that other controllers run, and not if all were named, or none', async () => {
    const choose = (...list: string[]) =>
      selectControllers(EMBEDDED_CONTROLLERS, list, {mayBeNone: true})
    const one = await start('one')
    chosen = choose('*')
    const two = await start('two')
    assert.deepEqual(problemsOf(await readServers(client, systemClock)), [])
    chosen = choose('none')
    const three = await start('three')
    assert.deepEqual(problemsOf(await readServers(client, systemClock)), [])
    await three.stop()
    chosen = choose('*', '-csr-signer')
    const four = await start('four')
    const problems = problemsOf(await readServers(client, systemClock))
    assert.deepEqual(problems, ['the servers have different --controllers'])
    await four.stop()
    await Promise.all([one.stop(), two.stop()])
    chosen = undefined
  })

  it('shows that servers run different versions', async () => {
    const one = await start('one')
    const [known] = await readServers(client, systemClock)
    assert.ok(known)
    await one.stop()
    const two = {...known, name: 'other', hostname: 'two', version: '9.9.9'}
    assert.deepEqual(differencesOf([known, {...known, name: 'x'}]), [])
    assert.deepEqual(differencesOf([known, {...two, alive: false}]), [])
    const values = {[known.name]: VERSION, other: '9.9.9'}
    assert.deepEqual(differencesOf([known, two]), [{name: 'version', values}])
    assert.deepEqual(problemsOf([known, two]), [
      `the servers run different versions: ${VERSION} on ${hostname()}, 9.9.9 on two`,
    ])
  })
})
