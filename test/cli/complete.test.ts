import assert from 'node:assert/strict'
import type {NameSource} from '../../src/cli/complete-names.ts'
import {complete} from '../../src/cli/complete.ts'
import {describedCommands} from './program.ts'

const asked: [string, Record<string, string>][] = []
const names: NameSource = (kind, flags) => {
  asked.push([kind, Object.fromEntries(flags)])
  return Promise.resolve([{word: `${kind}-one`}, {word: `${kind}-two`}])
}

/** What is offered at the end of a line; a blank at its end begins a new word. */
const offered = async (line: string) => {
  const {files, candidates} = await complete(line.split(' '), await describedCommands(), names)
  return files === 'none' ? candidates.map(({word}) => word) : files
}

const CASES: [line: string, offered: string[] | string][] = [
  ['stat', ['status']],
  ['--verbose stat', ['status']],
  ['certificate re', ['review', 'request', 'revoke', 'renew']],
  ['certs re', ['review', 'request', 'revoke', 'renew']],
  ['completion z', ['zsh']],
  ['init --apiserver-b', ['--apiserver-bind-port']],
  ['init phase ce', ['certs']],
  ['init --node-name phase --apiserver-b', ['--apiserver-bind-port']],
  ['status --output j', ['json']],
  ['status --output=j', ['--output=json']],
  ['status -o n', ['name']],
  ['version -o s', ['short']],
  ['init --config ', 'any'],
  ['init --cert-dir ', 'folders'],
  ['restore ', 'any'],
  ['restore one.backup --to e', ['embedded', 'etcd']],
  ['restore one.backup --passphrase-file ', 'any'],
  ['init --node-name ', []],
  ['init --nonsense=', []],
  ['join --skip-phases preflight,disc', ['preflight,discovery']],
  ['certificate show ', ['requests-one', 'requests-two']],
  ['certificate approve requests-one ', ['requests-two']],
  ['token delete tokens-t', ['tokens-two']],
  ['node history nodes-o', ['nodes-one']],
  ['bootstrap-credential revoke credentials-t', ['credentials-two']],
  ['certificate simulate --credential ', ['credentials-one', 'credentials-two']],
  ['nothing known ', []],
]

describe('completion', () => {
  for (const [line, expected] of CASES) {
    it(`of "${line}" offers ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await offered(line), expected)
    })
  }

  it('asks the cluster that the line means', async () => {
    asked.length = 0
    await offered('token --dir /srv/plane delete --kubeconfig=k ')
    await offered('token delete --kubeconfig=/tmp/k ')
    assert.deepEqual(asked.at(-1), ['tokens', {kubeconfig: '/tmp/k'}])
  })

  it('says what each command does', async () => {
    const {candidates} = await complete(['stat'], await describedCommands(), names)
    assert.match(candidates[0]?.summary ?? '', /what runs/)
  })
})
