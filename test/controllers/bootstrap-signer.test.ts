import assert from 'node:assert/strict'
import type {ConfigMap, Event, Secret} from '../../src/api/core.ts'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {signClusterInfo} from '../../src/controllers/bootstrap-signer.ts'
import type {Reconcile} from '../../src/controllers/kernel/work-queue.ts'
import {TrustError} from '../../src/errors.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {Replaceable} from '../../src/trust/live.ts'
import {HOUR, NOW, foobarSecret, type SecretChanges} from '../bootstrap/support.ts'
import {makeAuthority, type TestAuthority} from '../client/support/certificates.ts'
import {independentJws} from '../helpers/jws.ts'

const KEY = 'kube-public/cluster-info'
const JWS = 'jws-kubeconfig-abc123'
const SECRET = 'tokensecret01234'
const PAYLOAD_JWS = independentJws('payload', {id: 'abc123', secret: SECRET})

const tokenSecret = (changes: SecretChanges['data'] = {}, name = 'bootstrap-token-abc123') => {
  const data = {'token-id': 'abc123', 'token-secret': SECRET, ...changes}
  return foobarSecret({name, data: {'usage-bootstrap-signing': 'true', ...data}})
}

const inTime = (milliseconds: number) => new Date(NOW.getTime() + milliseconds).toISOString()

describe('signing cluster-info', () => {
  let configMap: ConfigMap | undefined
  let tokens: Secret[]
  let written: ConfigMap[]
  let refusals: TrustError[]
  let now: Date
  let signedBy: string[]
  let reconcile: Reconcile

  beforeEach(() => {
    configMap = clusterInfo({kubeconfig: 'payload'})
    tokens = [tokenSecret()]
    written = []
    refusals = []
    now = NOW
    signedBy = []
    const update = (object: ConfigMap) => {
      const refusal = refusals.shift()
      if (refusal) return Promise.reject(refusal)
      written.push(object)
      configMap = object
      return Promise.resolve(object)
    }
    reconcile = signClusterInfo({
      clusterInfo: {find: (key) => Promise.resolve(key === KEY ? configMap : undefined)},
      tokens: {list: () => Promise.resolve([...tokens])},
      writer: {configMaps: {update}} as unknown as ApiClient,
      clock: {now: () => now},
      sign: (content, token) => {
        signedBy.push(token.id)
        return Promise.resolve(independentJws(content, token))
      },
    })
  })

  const clusterInfo = (data: Record<string, string>): ConfigMap => ({
    metadata: {name: 'cluster-info', namespace: 'kube-public', resourceVersion: '7'},
    data,
  })
  const run = () => reconcile(KEY, new AbortController().signal)

  it('does nothing if there is no ConfigMap', async () => {
    configMap = undefined
    assert.deepEqual(await run(), {})
    assert.deepEqual(written, [])
  })

  it('does nothing if the ConfigMap has no kubeconfig', async () => {
    configMap = clusterInfo({other: 'x', [JWS]: 'left'})
    assert.deepEqual(await run(), {})
    assert.deepEqual([written, signedBy], [[], []])
  })

  it('adds the signature of a token, byte for byte as Kubernetes', async () => {
    await run()
    assert.deepEqual(configMap?.data, {kubeconfig: 'payload', [JWS]: PAYLOAD_JWS})
  })

  it('signs the same with its own signer', async () => {
    const update = (object: ConfigMap) => Promise.resolve((configMap = object))
    const signing = signClusterInfo({
      clusterInfo: {find: () => Promise.resolve(configMap)},
      tokens: {list: () => Promise.resolve(tokens)},
      writer: {configMaps: {update}} as unknown as ApiClient,
      clock: {now: () => now},
    })
    await signing(KEY, new AbortController().signal)
    assert.equal(configMap?.data?.[JWS], PAYLOAD_JWS)
  })

  it('writes nothing if the signatures are right', async () => {
    configMap = clusterInfo({kubeconfig: 'payload', [JWS]: PAYLOAD_JWS})
    await run()
    assert.deepEqual(written, [])
  })

  it('replaces a signature that is not right', async () => {
    configMap = clusterInfo({kubeconfig: 'payload', [JWS]: 'stale'})
    await run()
    assert.equal(configMap.data?.[JWS], PAYLOAD_JWS)
  })

  it('removes signatures of tokens that are gone, and of ids that no token can have', async () => {
    tokens = []
    configMap = clusterInfo({
      kubeconfig: 'payload',
      [JWS]: PAYLOAD_JWS,
      'jws-kubeconfig-': 'x',
      'jws-kubeconfig-NOT.AN.ID': 'x',
    })
    await run()
    assert.deepEqual(configMap.data, {kubeconfig: 'payload'})
  })

  it('leaves everything else in the ConfigMap alone', async () => {
    configMap = {...clusterInfo({kubeconfig: 'payload', mine: 'x', 'jws-other': 'y'}), extra: 1}
    configMap.metadata.labels = {mine: 'yes'}
    await run()
    const {data, ...rest} = written[0] ?? {}
    assert.deepEqual(data, {kubeconfig: 'payload', mine: 'x', 'jws-other': 'y', [JWS]: PAYLOAD_JWS})
    assert.deepEqual(rest, {
      metadata: {
        name: 'cluster-info',
        namespace: 'kube-public',
        resourceVersion: '7',
        labels: {mine: 'yes'},
      },
      extra: 1,
    })
  })

  it('does not change the objects it was given', async () => {
    const given = Object.freeze(clusterInfo(Object.freeze({kubeconfig: 'payload'})))
    configMap = given
    await run()
    assert.deepEqual(given.data, {kubeconfig: 'payload'})
  })

  it('tries again soon after a conflict, and then gets there', async () => {
    refusals = [new TrustError('CONFLICT', 'changed'), new TrustError('CONFLICT', 'changed')]
    for (const _attempt of [1, 2]) {
      const {requeueAfter = Infinity} = await run()
      assert.ok(requeueAfter < 1000)
    }
    assert.deepEqual(await run(), {})
    assert.equal(configMap?.data?.[JWS], PAYLOAD_JWS)
  })

  it('rests where the ConfigMap has been deleted meanwhile', async () => {
    refusals = [new TrustError('NOT_FOUND', 'gone')]
    assert.deepEqual(await run(), {})
  })

  it('leaves other failures to the work queue', async () => {
    refusals = [new TrustError('SERVER_ERROR', 'the disk is full')]
    await assert.rejects(run(), {code: 'SERVER_ERROR'})
  })

  it('takes the first of two tokens of one id', async () => {
    tokens = [tokenSecret(), tokenSecret({'token-secret': 'anothersecret012'})]
    await run()
    assert.equal(configMap?.data?.[JWS], PAYLOAD_JWS)
    assert.deepEqual(signedBy, ['abc123'])
  })

  const eligibility: [string, SecretChanges['data'], boolean, string?][] = [
    ['that never expires', {}, true],
    ['that expires in an hour', {expiration: inTime(HOUR)}, true],
    ['that expired an hour ago', {expiration: inTime(-HOUR)}, false],
    ['whose expiration is garbage', {expiration: 'garbage'}, false],
    ['of garbage without the usage', {'usage-bootstrap-signing': '', expiration: 'garbage'}, false],
    ['without the usage', {'usage-bootstrap-signing': ''}, false],
    ['without an id', {'token-id': ''}, false],
    ['without a secret', {'token-secret': ''}, false],
    ['whose secret nobody can log in with', {'token-secret': 'SHORT'}, false],
    ['named without the prefix', {}, false, 'abc123'],
    ['named after another id', {}, false, 'bootstrap-token-def456'],
    ['that may not authenticate', {'usage-bootstrap-authentication': undefined}, true],
  ]
  for (const [name, data, signs, secretName] of eligibility) {
    it(`${signs ? 'has a' : 'has no'} signature by a token ${name}`, async () => {
      tokens = [tokenSecret(data, secretName)]
      await run()
      assert.deepEqual(Object.keys(configMap?.data ?? {}), ['kubeconfig', ...(signs ? [JWS] : [])])
    })
  }

  it('has no signature by a token that is being deleted', async () => {
    const [held = tokenSecret()] = tokens
    held.metadata.deletionTimestamp = NOW.toISOString()
    await run()
    assert.deepEqual(configMap?.data, {kubeconfig: 'payload'})
  })

  it('comes back at the next expiry and takes that signature out', async () => {
    const soon = tokenSecret(
      {'token-id': 'soon00', expiration: inTime(3000)},
      'bootstrap-token-soon00',
    )
    tokens = [tokenSecret({expiration: inTime(9000)}), soon]
    assert.deepEqual(await run(), {requeueAfter: 3000})
    now = new Date(NOW.getTime() + 2999)
    assert.deepEqual(await run(), {requeueAfter: 1})
    assert.equal(written.length, 1)
    now = new Date(NOW.getTime() + 3000)
    assert.deepEqual(await run(), {requeueAfter: 6000})
    assert.deepEqual(Object.keys(configMap?.data ?? {}), ['kubeconfig', JWS])
  })

  it('looks at the clock every minute, which may have been set', async () => {
    tokens = [tokenSecret({expiration: inTime(HOUR)})]
    assert.deepEqual(await run(), {requeueAfter: 60_000})
  })

  it('signs again only what has changed', async () => {
    const named = (id: string, secret: string) => {
      const data = {'token-id': id, 'token-secret': secret.padEnd(16, '0')}
      const token = tokenSecret(data, `bootstrap-token-${id}`)
      return {...token, metadata: {...token.metadata, resourceVersion: secret}}
    }
    tokens = [named('aaaaaa', '1'), named('bbbbbb', '2'), named('cccccc', '3')]
    const signedNow = async () => {
      signedBy = []
      await run()
      return signedBy
    }
    assert.deepEqual(await signedNow(), ['aaaaaa', 'bbbbbb', 'cccccc'])
    assert.deepEqual(await signedNow(), [])
    tokens[1] = named('bbbbbb', 'another')
    assert.deepEqual(await signedNow(), ['bbbbbb'])
    tokens.shift()
    assert.deepEqual(await signedNow(), [])
    configMap = clusterInfo({...configMap?.data, 'jws-kubeconfig-cccccc': 'tampered'})
    assert.deepEqual(await signedNow(), [])
    configMap = clusterInfo({...configMap.data, kubeconfig: 'another'})
    assert.deepEqual(await signedNow(), ['bbbbbb', 'cccccc'])
    assert.deepEqual(configMap.data, {
      kubeconfig: 'another',
      'jws-kubeconfig-bbbbbb': independentJws('another', {
        id: 'bbbbbb',
        secret: 'another000000000',
      }),
      'jws-kubeconfig-cccccc': independentJws('another', {
        id: 'cccccc',
        secret: '3000000000000000',
      }),
    })
  })

  it('ends where it is told to stop', async () => {
    const stop = new AbortController()
    tokens = Array.from({length: 20_000}, () => tokenSecret())
    const running = reconcile(KEY, stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(running)
    assert.deepEqual(written, [])
  })
})

describe('a CA that only cluster-info has', () => {
  const server = 'https://10.0.0.1:6443'
  let first: TestAuthority
  let second: TestAuthority
  before(async () => {
    first = await makeAuthority('kubernetes')
    second = await makeAuthority('another')
  })

  /** The signer of a control plane, and the Events that it has sent. */
  const signer = (published: string, rootCa: Replaceable<string>) => {
    const metadata = {name: 'cluster-info', namespace: 'kube-public', uid: 'u'}
    const state = {configMap: {metadata, data: {kubeconfig: published}} as ConfigMap}
    const events: Event[] = []
    const update = (object: ConfigMap) => Promise.resolve((state.configMap = object))
    const create = (event: Event) => Promise.resolve(events.push(event))
    const reconcile = signClusterInfo({
      rootCa,
      clusterInfo: {find: () => Promise.resolve(state.configMap)},
      tokens: {list: () => Promise.resolve([])},
      writer: {configMaps: {update}, events: {create}} as unknown as ApiClient,
      clock: {now: () => NOW},
    })
    return {state, events, run: () => reconcile(KEY, new AbortController().signal)}
  }
  const infoOf = (ca: string) => formatClusterInfo({server, ca})

  it('is removed with an Event that names it, and how to keep it', async () => {
    const both = infoOf(first.pem + second.pem)
    const {state, events, run} = signer(both, new Replaceable(first.pem))
    await run()
    assert.equal(state.configMap.data?.kubeconfig, infoOf(first.pem))
    assert.deepEqual(
      events.map(({type, involvedObject}) => [type, involvedObject.name]),
      [['Warning', 'cluster-info']],
    )
    const {message = ''} = events[0] ?? {}
    assert.ok(message.includes(pinOf(parseCertificate(second.pem))), message)
    assert.match(message, /append it to ca\.crt/)
    await run()
    assert.equal(events.length, 1)
  })

  it('is reported again when it is added again', async () => {
    const {state, events, run} = signer(infoOf(first.pem), new Replaceable(first.pem))
    for (const _time of [1, 2]) {
      state.configMap = {
        ...state.configMap,
        data: {kubeconfig: infoOf(first.pem + second.pem)},
      }
      await run()
    }
    assert.equal(events.length, 2)
  })

  it('is not one that a rotation has ended', async () => {
    const rootCa = new Replaceable(first.pem)
    const {state, events, run} = signer(infoOf(first.pem), rootCa)
    for (const bundle of [first.pem, first.pem + second.pem, second.pem]) {
      await rootCa.replace(bundle)
      await run()
      assert.equal(state.configMap.data?.kubeconfig, infoOf(bundle))
    }
    assert.deepEqual(events, [])
  })
})

/** The signature as the format says it, made without the code under test. */
