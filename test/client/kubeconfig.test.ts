import assert from 'node:assert/strict'
import fc from 'fast-check'
import {formatKubeconfig, parseKubeconfig} from '../../src/client/kubeconfig.ts'
import {TrustError} from '../../src/errors.ts'

const MINIMAL = `
apiVersion: v1
kind: Config
clusters:
- name: one
  cluster: {server: https://10.0.0.1:6443}
contexts:
- name: ctx
  context: {cluster: one, user: me, namespace: ns}
current-context: ctx
users:
- name: me
  user: {token: abc}
`

describe('parseKubeconfig', () => {
  it('reads YAML', () => {
    const config = parseKubeconfig(MINIMAL)
    assert.equal(config['current-context'], 'ctx')
    assert.deepEqual(config.clusters, [{name: 'one', cluster: {server: 'https://10.0.0.1:6443'}}])
    assert.deepEqual(config.users, [{name: 'me', user: {token: 'abc'}}])
  })

  it('reads JSON', () => {
    assert.equal(parseKubeconfig(JSON.stringify(parseKubeconfig(MINIMAL))).contexts.length, 1)
  })

  it('takes null lists for empty ones, and an empty name for a name, as cluster-info has them', () => {
    const config = parseKubeconfig(
      '{"kind":"Config","clusters":[{"name":"","cluster":{"server":"https://a"}}],"contexts":null,"users":null}',
    )
    assert.deepEqual([config.contexts, config.users, config.clusters[0]?.name], [[], [], ''])
  })

  it('keeps what it does not know, through writing', () => {
    const text = `${MINIMAL}preferences: {colors: true}\nextensions:\n- name: x\n  extension: {a: 1}\n`
    const config = parseKubeconfig(formatKubeconfig(parseKubeconfig(text)))
    assert.deepEqual(config.preferences, {colors: true})
    assert.deepEqual(config.extensions, [{name: 'x', extension: {a: 1}}])
  })

  it('reads back every text that it writes', () => {
    fc.assert(
      fc.property(fc.string({unit: 'binary'}), (name) => {
        const config = {...parseKubeconfig(MINIMAL), users: [{name, user: {token: name}}]}
        assert.deepEqual(parseKubeconfig(formatKubeconfig(config)).users, config.users)
      }),
    )
  })

  const refused: [name: string, text: string, says: RegExp][] = [
    ['a list', '- a', /not a map/],
    ['text', 'hunter2', /not a map/],
    ['another kind', 'kind: Secret', /kind is not Config/],
    ['another version', 'apiVersion: v2', /kind is not Config of v1/],
    ['clusters that are no list', 'clusters: hunter2', /clusters is not a list/],
    ['a cluster that is no map', 'clusters: [hunter2]', /clusters\[0\] is not a map/],
    ['a name that is no text', 'users: [{name: 5}]', /users\[0\]\.name is not a string/],
    ['a token that is no text', 'users: [{name: a, user: {token: 5}}]', /users\[0\]\.user\.token/],
    [
      'a flag that is text',
      'clusters: [{name: a, cluster: {insecure-skip-tls-verify: "yes"}}]',
      /insecure-skip-tls-verify/,
    ],
    ['groups that are no list', 'users: [{name: a, user: {as-groups: x}}]', /as-groups/],
    ['a name twice', 'users: [{name: a}, {name: a}]', /users\[1\] has the name of an earlier one/],
    [
      'a current-context that is no text',
      'current-context: [a]',
      /current-context is not a string/,
    ],
    ['a key twice', 'users: []\nusers: []', /not valid YAML \(line 2/],
    ['broken YAML', 'token: "hunter2', /not valid YAML/],
    ['broken YAML further on', 'a: b\nc: {hunter2', /not valid YAML \(line 2/],
    ['a bomb of aliases', bomb(), /aliases/],
    ['more than 4 MiB', `a: ${'x'.repeat(5_000_000)}`, /larger than 4 MiB/],
  ]
  for (const [name, text, says] of refused) {
    it(`refuses ${name}, without showing any of it`, () => {
      assert.throws(
        () => parseKubeconfig(text, 'the file'),
        (error: TrustError) => {
          assert.equal(error.code, 'KUBECONFIG_INVALID')
          assert.match(error.message, says)
          assert.equal(
            JSON.stringify([error.message, error.suggestions]).includes('hunter2'),
            false,
          )
          return true
        },
      )
    })
  }
})

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 9; level += 1) {
    lines.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    )
  }
  return lines.join('\n')
}
