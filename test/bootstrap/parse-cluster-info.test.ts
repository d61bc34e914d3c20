import assert from 'node:assert/strict'
import {parseClusterInfo} from '../../src/bootstrap/parse-cluster-info.ts'
import {TrustError} from '../../src/errors.ts'
import {testAuthority} from '../pki/support.ts'

const server = 'https://10.0.0.1:6443'
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** JSON is YAML. */
function kubeconfig(cluster: Record<string, unknown>, rest: Record<string, unknown> = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{name: '', cluster: {server, ...cluster}}],
    ...rest,
  })
}

describe('reading cluster-info', () => {
  it('takes a file as kubectl writes it, with a context and no users', () => {
    const text = `
apiVersion: v1
kind: Config
clusters:
- name: prod
  cluster: {server: "${server}"}
contexts:
- name: admin@prod
  context: {cluster: prod, user: admin}
current-context: admin@prod
users: []
`
    assert.deepEqual(parseClusterInfo(text), {server})
  })

  it('gives only the certificates of a bundle, without the text around them', async () => {
    const {pem} = await testAuthority()
    const text = kubeconfig({'certificate-authority-data': base64(`# our CA\n${pem}`)})
    assert.equal(parseClusterInfo(text).ca, pem)
  })

  const users = (user: unknown) => ({users: [{name: 'admin', user}]})
  const credentials: [string, string][] = [
    [kubeconfig({}, users({token: 'SECRET'})), 'users[0].user.token'],
    [kubeconfig({}, users({tokenFile: 'SECRET'})), 'users[0].user.tokenFile'],
    [kubeconfig({}, users({'client-key-data': 'SECRET'})), 'users[0].user.client-key-data'],
    [kubeconfig({}, users({'client-certificate': 'x'})), 'users[0].user.client-certificate'],
    [kubeconfig({}, users({username: 'x', password: 'SECRET'})), 'users[0].user.username'],
    [kubeconfig({}, users({exec: {command: 'SECRET'}})), 'users[0].user.exec'],
    [kubeconfig({}, users({'auth-provider': {name: 'x'}})), 'users[0].user.auth-provider'],
    [kubeconfig({}, users({as: 'x'})), 'users[0].user.as'],
    [kubeconfig({}, users({})), 'users[0]'],
    [kubeconfig({}, {users: {admin: {}}}), 'users'],
    [kubeconfig({token: 'SECRET'}), 'clusters[0].cluster.token'],
    [kubeconfig({}, {token: 'SECRET'}), 'token'],
    [
      kubeconfig({extensions: [{name: 'x', extension: {password: 'SECRET'}}]}),
      'clusters[0].cluster.extensions[0].extension.password',
    ],
    [kubeconfig({server: 'https://admin:SECRET@10.0.0.1:6443'}), 'clusters[0].cluster.server'],
    [
      kubeconfig({
        'certificate-authority-data': base64(
          '-----BEGIN EC PRIVATE KEY-----\nU0VDUkVU\n-----END EC PRIVATE KEY-----\n',
        ),
      }),
      'clusters[0].cluster.certificate-authority-data',
    ],
  ]
  for (const [text, field] of credentials) {
    it(`refuses credentials at ${field}, and names the place but not the value`, () => {
      assert.throws(
        () => parseClusterInfo(text),
        (error) =>
          error instanceof TrustError &&
          error.code === 'CLUSTER_INFO_CREDENTIALS' &&
          error.facts.field === field &&
          error.message.includes(`(${field})`) &&
          !error.message.includes('SECRET'),
      )
    })
  }

  const cluster = {name: 'a', cluster: {server}}
  const refusals: [string, string][] = [
    ['nothing', ''],
    ['a word', 'foo'],
    ['broken YAML', 'clusters: [SECRET'],
    ['two documents', `${kubeconfig({})}\n---\n${kubeconfig({})}`],
    ['a key that is there twice', 'clusters: []\nclusters: []\n'],
    ['aliases', `x: &x 1\ny: *x\nclusters: [{name: "", cluster: {server: "${server}"}}]\n`],
    ['bottomless nesting', '['.repeat(100_000)],
    ['more than 1 MiB', kubeconfig({comment: 'x'.repeat(1024 * 1024)})],
    ['another kind', kubeconfig({}, {kind: 'Secret'})],
    ['no cluster', kubeconfig({}, {clusters: null})],
    ['an empty list of clusters', kubeconfig({}, {clusters: []})],
    ['two clusters', kubeconfig({}, {clusters: [cluster, {...cluster, name: 'b'}]})],
    ['a cluster that is not a map', kubeconfig({}, {clusters: ['SECRET']})],
    ['a current context that is not there', kubeconfig({}, {'current-context': 'x'})],
    [
      'a current context of another cluster',
      kubeconfig(
        {},
        {'current-context': 'x', contexts: [{name: 'x', context: {cluster: 'missing'}}]},
      ),
    ],
    ['no server', kubeconfig({server: undefined})],
    ['a server that is no text', kubeconfig({server: 7})],
    ['http', kubeconfig({server: 'http://10.0.0.1:6443'})],
    ['a file as server', kubeconfig({server: 'file:///etc/passwd'})],
    ['a server without a scheme', kubeconfig({server: '10.0.0.1:6443'})],
    ['a server with a query', kubeconfig({server: `${server}/?x=1`})],
    ...['\n', '\r', '\t', ' ', '\0', '\u001b[2J', '\u007f', '\u009b', '\u2028', '\u202e'].flatMap(
      (character): [string, string][] => {
        const shown = JSON.stringify(character)
        return [
          [
            `a server that holds ${shown}`,
            kubeconfig({server: `https://10.0.0.1${character}:6443`}),
          ],
          [`a server that ends with ${shown}`, kubeconfig({server: `${server}${character}`})],
          [
            `a TLS server name that holds ${shown}`,
            kubeconfig({'tls-server-name': `a${character}b`}),
          ],
        ]
      },
    ),
    ['no verification', kubeconfig({'insecure-skip-tls-verify': true})],
    ['a CA in a file', kubeconfig({'certificate-authority': '/etc/ca.crt'})],
    ['a proxy', kubeconfig({'proxy-url': 'http://10.0.0.9:3128'})],
    ['a CA that is no base64', kubeconfig({'certificate-authority-data': '!SECRET!'})],
    ['a CA that is no certificate', kubeconfig({'certificate-authority-data': base64('foo')})],
    ['a CA that is a number', kubeconfig({'certificate-authority-data': 7})],
  ]
  for (const [name, text] of refusals) {
    it(`refuses ${name}, quoting nothing of it`, () => {
      assert.throws(
        () => parseClusterInfo(text, 'info.yaml'),
        (error) =>
          error instanceof TrustError &&
          error.code === 'CLUSTER_INFO_INVALID' &&
          error.message.startsWith('info.yaml ') &&
          !error.message.includes('SECRET'),
      )
    })
  }
})
