import assert from 'node:assert/strict'
import type {ConfigMap, Secret} from '../../src/api/core.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {signClusterInfo} from '../../src/controllers/bootstrap-signer.ts'
import type {Reconcile} from '../../src/controllers/kernel/work-queue.ts'
import {TrustError} from '../../src/errors.ts'
import {HOUR, NOW, foobarSecret, type SecretChanges} from '../bootstrap/support.ts'
import {independentJws} from '../helpers/jws.ts'

const KEY = 'kube-public/cluster-info'
const JWS = 'jws-kubeconfig-abc123'
/** From Kubernetes' own test of its signer. */
const PAYLOAD_JWS =
  'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiYzEyMyJ9..QSxpUG7Q542CirTI2ECPSZjvBOJURUW5a7XqFpNI958'

const tokenSecret = (changes: SecretChanges['data'] = {}, name = 'bootstrap-token-abc123') => {
  const data = {'token-id': 'abc123', 'token-secret': 'tokenSecret', ...changes}
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
      writer: {configMaps: {update} as unknown as ApiClient['configMaps']},
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
      writer: {configMaps: {update} as unknown as ApiClient['configMaps']},
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
    tokens = [tokenSecret(), tokenSecret({'token-secret': 'another'})]
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
      const token = tokenSecret({'token-id': id, 'token-secret': secret}, `bootstrap-token-${id}`)
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
      'jws-kubeconfig-bbbbbb': independentJws('another', {id: 'bbbbbb', secret: 'another'}),
      'jws-kubeconfig-cccccc': independentJws('another', {id: 'cccccc', secret: '3'}),
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

/** The signature as the format says it, made without the code under test. */
