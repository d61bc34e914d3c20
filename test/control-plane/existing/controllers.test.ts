import assert from 'node:assert/strict'
import {jwsKey} from '../../../src/bootstrap/cluster-info.ts'
import type {BootstrapToken} from '../../../src/bootstrap/token.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {findControllers} from '../../../src/control-plane/existing/controllers.ts'
import {completeToken, createToken} from '../../../src/control-plane/tokens/create.ts'
import {TrustError} from '../../../src/errors.ts'
import {systemClock} from '../../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'

const HOUR = 3_600_000
const ID = 'abcdef'
const TOKEN: BootstrapToken = {id: ID, secret: '0123456789abcdef'}

describe('the controllers of an existing cluster', () => {
  let server: TestServer
  let client: ApiClient

  beforeEach(async () => {
    server = await startTestServer({controllers: false})
    client = server.clientAs(ADMIN)
  })
  afterEach(() => server.stop())

  const look = async (tokenId?: string, by: Parameters<typeof findControllers>[0] = client) => {
    const commandFor = (command: string) => `trustadm ${command} --context c`
    const options = {tokenId, commandFor, clock: systemClock, patience: 0}
    const {missing, unchecked} = await findControllers(by, options)
    return {
      missing: missing.map(({controller}) => controller),
      unchecked: unchecked.map(({controller, reason}) => [controller, reason]),
      command: missing[0]?.command,
    }
  }
  const createdAt = (time: Date) =>
    createToken(client, completeToken({token: TOKEN, ttl: HOUR}, time, {allowWeak: true}))
  const KEY = {namespace: 'kube-public', name: 'cluster-info'}
  const publish = async (data: Record<string, string> = {}) => {
    await client.namespaces.create({metadata: {name: 'kube-public'}}).catch(() => undefined)
    await client.configMaps.create({metadata: KEY, data})
  }
  const sign = () => publish({[jwsKey(ID)]: 'signature'})
  const UNKNOWN_CLEANER = [
    'token-cleaner',
    'no expired token is left, so it works or none has expired yet',
  ]

  it('are not known without a token, which is said', async () => {
    assert.deepEqual(await look(), {
      missing: [],
      unchecked: [
        ['bootstrap-signer', 'there is no token to sign cluster-info with'],
        UNKNOWN_CLEANER,
      ],
      command: undefined,
    })
  })

  it('are seen by the signature of any token', async () => {
    await createdAt(systemClock.now())
    await publish()
    assert.deepEqual((await look()).missing, ['bootstrap-signer', 'token-cleaner'])
    await client.configMaps.delete(KEY)
    await sign()
    const {missing, unchecked} = await look()
    assert.deepEqual([missing, unchecked], [[], [UNKNOWN_CLEANER]])
  })

  it('are missing if they have not done their work, with one line for all', async () => {
    await publish()
    const {missing, unchecked, command} = await look(ID)
    assert.deepEqual([missing, unchecked], [['bootstrap-signer', 'token-cleaner'], []])
    const names = 'bootstrap-signer,token-cleaner'
    assert.equal(command, `trustadm controllers --controllers ${names} --context c`)
  })

  it('are not known without cluster-info, which is said at once', async () => {
    const options = {tokenId: ID, commandFor: String, clock: systemClock, patience: Infinity}
    const {missing, unchecked} = await findControllers(client, options)
    assert.deepEqual(missing, [])
    assert.deepEqual(
      unchecked.map(({controller, reason, isUsual}) => [controller, reason, isUsual]),
      [
        ['bootstrap-signer', 'there is no ConfigMap kube-public/cluster-info to sign', false],
        [...UNKNOWN_CLEANER, true],
      ],
    )
  })

  it('include no token-cleaner if an expired token is left', async () => {
    await createdAt(new Date(systemClock.now().getTime() - 2 * HOUR))
    await sign()
    const {missing, unchecked} = await look(ID)
    assert.deepEqual([missing, unchecked], [['token-cleaner'], []])
  })

  it('are not known without the right to list Secrets, which is said', async () => {
    const list = () => Promise.reject(new TrustError('FORBIDDEN', 'no'))
    const by = {...client, secrets: {...client.secrets, list}}
    const reason = 'the user of the kubeconfig may not list the Secrets in kube-system'
    const {missing, unchecked} = await look(undefined, by)
    assert.deepEqual(missing, [])
    assert.deepEqual(unchecked, [
      ['bootstrap-signer', reason],
      ['token-cleaner', reason],
    ])
  })
})
