import assert from 'node:assert/strict'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {ServerResponse} from 'node:http'
import {formatClusterInfo, jwsKey} from '../../../src/bootstrap/cluster-info.ts'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {independentJws} from '../../helpers/jws.ts'
import {servePlain} from '../../client/support/servers.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {
  answerData,
  signedData,
  startFakeCluster,
  TOKEN,
  TOKEN_TEXT,
  type Data,
  type FakeCluster,
} from '../../discovery/support.ts'
import {joinRequest, useFolder} from '../support.ts'

const base64url = (text: string) => Buffer.from(text).toString('base64url')

describe('join with a server that is not the cluster', function () {
  this.timeout(30_000)
  const folder = useFolder()
  let fake: FakeCluster
  beforeEach(async () => {
    fake = await startFakeCluster()
  })
  afterEach(() => fake.stop())

  const attempt = (endpoint = fake.endpoint) =>
    runJoin(
      joinRequest({
        dir: join(folder(), 'node'),
        nodeName: 'one',
        discovery: {endpoints: [endpoint], token: TOKEN_TEXT, caCertHashes: [fake.pin]},
        token: TOKEN_TEXT,
        discoveryTimeout: 0,
      }),
      joinPhases(),
    )
  const info = () => ({server: fake.url, ca: fake.ca})
  const publish = (data: Data) => fake.publish(data)
  const signature = (jws: string) => ({
    ...signedData(info()),
    [jwsKey(TOKEN.id)]: jws,
  })
  const header = (fields: object) => base64url(JSON.stringify(fields))

  const answers: [string, string, () => void | Promise<void>][] = [
    [
      'signs with another secret',
      'SIGNATURE_WRONG',
      () => {
        const kubeconfig = formatClusterInfo(info())
        const other = {...TOKEN, secret: 'a7zq2m9x4c6b1n8w'}
        publish({kubeconfig, [jwsKey(TOKEN.id)]: independentJws(kubeconfig, other)})
      },
    ],
    [
      'signs with no algorithm',
      'SIGNATURE_ALGORITHM_REFUSED',
      () => publish(signature(`${header({alg: 'none', kid: TOKEN.id})}..`)),
    ],
    [
      'signs by another token',
      'SIGNATURE_OF_OTHER_TOKEN',
      () => publish(signature(`${header({alg: 'HS256', kid: 'zzzzzz'})}..AAAA`)),
    ],
    ['does not sign', 'SIGNATURE_MISSING', () => publish({kubeconfig: formatClusterInfo(info())})],
    [
      'brings a second CA that nobody pinned',
      'CA_UNPINNED',
      async () => {
        const other = await makeAuthority('other')
        publish(signedData({server: fake.url, ca: fake.ca + other.pem}))
      },
    ],
    [
      'says something else the second time',
      'CLUSTER_INFO_CHANGED',
      () => {
        let reads = 0
        fake.answerWith((_request, response) => {
          reads += 1
          const server = reads === 1 ? fake.url : 'https://evil.example:6443'
          answerData(response, signedData({server, ca: fake.ca}))
        })
      },
    ],
    [
      'sends the machine elsewhere',
      'REDIRECT_REFUSED',
      () =>
        fake.answerWith((_request, response: ServerResponse) => {
          response.writeHead(302, {location: 'http://evil.example/'}).end()
        }),
    ],
    [
      'never ends its answer',
      'ANSWER_TOO_LARGE',
      () =>
        fake.answerWith((_request, response: ServerResponse) => {
          const chunk = 'x'.repeat(64 * 1024)
          const more = () => {
            while (!response.destroyed && response.write(chunk)) continue
          }
          response.on('drain', more)
          more()
        }),
    ],
    [
      'puts credentials into cluster-info',
      'CLUSTER_INFO_CREDENTIALS',
      () => {
        const kubeconfig = `${formatClusterInfo(info()).replace('users: null', '')}users: [{name: a, user: {token: b}}]\n`
        publish({kubeconfig, [jwsKey(TOKEN.id)]: independentJws(kubeconfig, TOKEN)})
      },
    ],
  ]
  for (const [what, code, prepare] of answers) {
    it(`that ${what} is refused, and leaves no trace`, async () => {
      await prepare()
      await assert.rejects(attempt(), {code})
      assert.deepEqual(await readdir(folder()), [])
    })
  }

  it('that does not speak TLS is refused, and leaves no trace', async () => {
    const plain = await servePlain((_request, response) => void response.end('hello'))
    try {
      await assert.rejects(attempt(`127.0.0.1:${plain.port}`), {code: 'SERVER_NOT_TLS'})
      assert.deepEqual(await readdir(folder()), [])
    } finally {
      await plain.stop()
    }
  })

  it('that nobody reaches is told so, and leaves no trace', async () => {
    await assert.rejects(attempt('127.0.0.1:1'), {code: 'SERVER_UNREACHABLE'})
    assert.deepEqual(await readdir(folder()), [])
  })
})
