import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import type {IncomingMessage} from 'node:http'
import {Agent, request} from 'node:https'
import {join} from 'node:path'
import {jwsKey} from '../../../src/bootstrap/cluster-info.ts'
import {findJwsFlaw} from '../../../src/bootstrap/jws.ts'
import {parseClusterInfo} from '../../../src/bootstrap/parse-cluster-info.ts'
import {formatToken, type BootstrapToken} from '../../../src/bootstrap/token.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {connectTo} from '../../../src/client/connect.ts'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import {parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import type {ServerAccess} from '../../../src/client/server-access.ts'
import {withClient} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {checkExpiration} from '../../../src/control-plane/expiration.ts'
import {completeToken, createToken} from '../../../src/control-plane/tokens/create.ts'
import {userKubeconfig} from '../../../src/control-plane/user-kubeconfig.ts'
import {ACCOUNT_NAME, ACCOUNT_TOKEN_TYPE} from '../../../src/csr/bootstrapper.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {systemClock} from '../../../src/runtime.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

const AT_ONCE = 1000

/** Requests of one client on one connection that stays open. */
function openConnection({server, ca, clientCertificate}: ServerAccess) {
  const {certificate: cert, key} = clientCertificate ?? {}
  const agent = new Agent({keepAlive: true, maxSockets: 1, ca, cert, key})
  const ask = async () => {
    const asked = request(new URL('/api/v1/namespaces', server), {agent})
    asked.end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    await once(answer, 'end')
    return {status: answer.statusCode, isReused: asked.reusedSocket}
  }
  return {ask, close: () => agent.destroy()}
}

describe('what follows a rotation of the CAs', function () {
  this.timeout(60_000)
  let fixture: PlaneFixture
  let stop: () => Promise<void>
  let tokens: BootstrapToken[]
  let earlier: ServerAccess
  let old: string
  const log: string[] = []
  const context = () => contextFor(fixture.context.plane)
  const withAdmin = <Result>(work: (client: ApiClient) => Promise<Result>) =>
    withClient(context(), work)
  const trusted = () => readFile(join(fixture.dir, 'pki/ca.crt'), 'utf8')
  const pinsIn = (pem: string) => new Set(parseBundle(pem).map(pinOf))

  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    stop = await serveFixture(fixture, (line) => log.push(line))
    await fixture.run('namespaces', 'rbac', 'cluster-info')
    earlier = await resolveAccess(await loadKubeconfig(join(fixture.dir, 'super-admin.conf')))
    old = await trusted()
    await withAdmin(async (client) => {
      const infos = [1, 2, 3].map(() => completeToken({}, systemClock.now()))
      for (const info of infos) await createToken(client, info)
      tokens = infos.map(({token}) => token)
      await eventually(() => client.serviceAccounts.find('default/default'))
      await client.secrets.create({
        metadata: {
          name: 'robot',
          namespace: 'default',
          annotations: {[ACCOUNT_NAME]: 'default'},
        },
        type: ACCOUNT_TOKEN_TYPE,
      })
    })
    await eventually(async () => (await trustedByRobot()) === old && (await areAllSigned()))
  })
  after(() => stop())

  /** The CAs in a Secret with the token of a service account. */
  const trustedByRobot = () =>
    withAdmin(async (client) => {
      const {data} = await client.secrets.get('default/robot')
      return Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString()
    })
  const clusterInfo = () =>
    withAdmin(async (client) => {
      const {data = {}} = await client.configMaps.get('kube-public/cluster-info')
      return {signatures: data, content: data.kubeconfig ?? ''}
    })
  /** Whether every bootstrap token has signed what cluster-info says now. */
  const areAllSigned = async () => {
    const {signatures, content} = await clusterInfo()
    const flaws = tokens.map((token) =>
      findJwsFlaw(signatures[jwsKey(token.id)] ?? '', content, token),
    )
    return (await Promise.all(flaws)).every((flaw) => flaw === undefined)
  }
  /** The CAs of everything in the API that machines and pods read. */
  const requirePublished = async (bundle: string) => {
    assert.equal(await trustedByRobot(), bundle)
    assert.equal(parseClusterInfo((await clusterInfo()).content).ca, bundle)
    assert.equal(await areAllSigned(), true)
  }

  const tokenKubeconfig = async () => {
    const [token] = tokens
    assert.ok(token)
    const robot = {name: 'robot', groups: [], token: formatToken(token)}
    const text = await userKubeconfig(fixture.context.plane, robot, systemClock)
    return await resolveAccess(parseKubeconfig(text))
  }
  const userOf = async (access: ServerAccess) => {
    const client = connectTo(access, {retry: {attempts: 1}})
    try {
      return (await client.selfSubjectReviews.create({metadata: {}})).status?.userInfo?.username
    } finally {
      await client.close()
    }
  }
  /** Pins of the CAs of the cluster, as `check-expiration` shows them, and whether they sign. */
  const shownAuthorities = async () => {
    const {certificateAuthorities} = await checkExpiration(fixture.context.plane, systemClock)
    return certificateAuthorities
      .filter(({name}) => name === 'ca')
      .map(({pin, signs, problems}) => ({pin, signs, problems}))
  }

  it('has both CAs after start, which a reload leaves as they are', async () => {
    const [first] = parseBundle(old).map(pinOf)
    const bootstrap = await tokenKubeconfig()
    await rotate(context(), 'start', {wait: false, observer})
    const both = await trusted()
    await requirePublished(both)
    assert.equal(pinsIn(both).size, 2)

    const [, second] = [...pinsIn(both)]
    const all = [
      {pin: first, signs: true, problems: []},
      {pin: second, signs: false, problems: []},
      // The new one as certified by the old one.
      {pin: second, signs: false, problems: []},
    ]
    assert.deepEqual(await shownAuthorities(), all)
    log.length = 0
    process.emit('SIGHUP')
    await eventually(() => Promise.resolve(log.includes('certificates were reread')))
    assert.deepEqual([await shownAuthorities(), await trusted()], [all, both])
    await requirePublished(both)
    for (const access of [bootstrap, await tokenKubeconfig()])
      assert.equal(await userOf(access), `system:bootstrap:${tokens[0]?.id ?? ''}`)
  })

  it('has only the new CA after complete, and refuses certificates of the old one at once', async () => {
    const prepared = await tokenKubeconfig()
    assert.deepEqual(pinsIn(prepared.ca ?? ''), pinsIn(await trusted()))
    const {ask, close} = openConnection(earlier)
    try {
      await ask()
      assert.deepEqual(await ask(), {status: 200, isReused: true})
      const isRefused = async () => {
        const end = performance.now() + AT_ONCE
        while (performance.now() < end) {
          const {status, isReused} = await ask()
          if (status === 401) return isReused
        }
        return false
      }
      let refused: Promise<boolean> | undefined
      const watching = {
        ...observer,
        end: ({id}: {id: string}) => {
          if (id === 'servers-distrust-old') refused = isRefused()
        },
      }
      const forced = {...context(), force: true}
      await rotate(forced, 'complete', {wait: false, observer: watching})
      assert.equal(await refused, true)
    } finally {
      close()
    }

    const current = await trusted()
    await requirePublished(current)
    assert.deepEqual(await shownAuthorities(), [
      {pin: parseBundle(current).map(pinOf)[0], signs: true, problems: []},
    ])
    assert.deepEqual(
      parseBundle(old).filter((one) => pinsIn(current).has(pinOf(one))),
      [],
    )
    const later = await tokenKubeconfig()
    assert.equal(later.ca, current)
    for (const access of [prepared, later])
      assert.equal(await userOf(access), `system:bootstrap:${tokens[0]?.id ?? ''}`)
  })
})
