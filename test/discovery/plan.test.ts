import assert from 'node:assert/strict'
import {planDiscovery, type DiscoveryOptions} from '../../src/discovery/plan.ts'
import {TrustError} from '../../src/errors.ts'
import {makeAuthority} from '../client/support/certificates.ts'
import {TOKEN, TOKEN_TEXT} from './support.ts'

const HASH = `sha256:${'0a'.repeat(32)}`
const ENDPOINT = '192.168.122.100:6443'
const byToken: DiscoveryOptions = {token: TOKEN_TEXT, endpoints: [ENDPOINT], caCertHashes: [HASH]}

const refused: {name: string; options: DiscoveryOptions; says: RegExp}[] = [
  {name: 'a file and a token', options: {...byToken, file: 'f'}, says: /a discovery file and/},
  {name: 'neither a file nor a token', options: {}, says: /no cluster was named/},
  {name: 'empty texts', options: {file: '', token: ''}, says: /no cluster was named/},
  {name: 'an address alone', options: {endpoints: [ENDPOINT]}, says: /no token/},
  {name: 'a token alone', options: {token: TOKEN_TEXT}, says: /needs the address/},
  ...[undefined, false].map((unsafeSkipCaVerification) => ({
    name: `a token without a pin, with CA verification to be skipped ${unsafeSkipCaVerification === false ? 'denied' : 'not spoken of'}`,
    options: {...byToken, caCertHashes: [], unsafeSkipCaVerification},
    says: /without a CA certificate hash is unsafe/,
  })),
  {
    name: 'an address without a port',
    options: {...byToken, endpoints: ['192.168.122.100']},
    says: /not the address of an API server/,
  },
  {
    name: 'one bad address among good ones',
    options: {...byToken, endpoints: [ENDPOINT, 'x']},
    says: /not the address of an API server/,
  },
  {
    name: 'a file and an address',
    options: {file: 'f', endpoints: ['a:1']},
    says: /an address and a discovery file/,
  },
  {
    name: 'a file and a hash',
    options: {file: 'f', caCertHashes: [HASH]},
    says: /is for a token/,
  },
  ...(
    [
      ['an address', {endpoints: [ENDPOINT]}],
      ['a discovery token', {token: TOKEN_TEXT}],
      ['a discovery file', {file: 'f'}],
      ['a CA certificate hash', {caCertHashes: [HASH]}],
      ['--discovery-token-unsafe-skip-ca-verification', {unsafeSkipCaVerification: true}],
    ] as const
  ).map(([other, options]) => ({
    name: `a kubeconfig and ${other}`,
    options: {kubeconfig: 'k', ...options},
    says: new RegExp(`a bootstrap kubeconfig and ${other} cannot be used together`),
  })),
  {
    name: 'a CA for a local file',
    options: {file: 'f', fileCa: 'x'},
    says: /only for an https:\/\/ URL/,
  },
  {
    name: 'a CA for standard input',
    options: {file: '-', fileCa: 'x'},
    says: /only for an https:\/\/ URL/,
  },
  {
    name: 'a CA beside a token',
    options: {...byToken, fileCa: 'x'},
    says: /only for an https:\/\/ URL/,
  },
  {
    name: 'a CA that is none',
    options: {file: 'https://a/f', fileCa: 'foo'},
    says: /no PEM certificate/,
  },
  ...['http://[::1]a', 'http://url/file.conf', 'HTTP://url/f', 'file:///f', 'ftp://a/f'].map(
    (file) => ({name: file, options: {file}, says: /only be fetched over https:\/\//}),
  ),
  ...['https://u r l/file.conf', 'https://', 'https://[::1]a', 'https:'].map((file) => ({
    name: file,
    options: {file},
    says: /malformed/,
  })),
  {
    name: 'a URL with a password',
    options: {file: 'https://me:hunter2@url/f'},
    says: /contains a user or a password/,
  },
  ...['foo', 'xyz', '0011223344', `sha256:${'0a'.repeat(64)}`, `sha1:${'0a'.repeat(32)}`].map(
    (hash) => ({
      name: `the hash ${hash.slice(0, 20)}`,
      options: {...byToken, caCertHashes: [hash]},
      says: /CA certificate hash 1 is invalid/,
    }),
  ),
]

describe('planDiscovery', () => {
  for (const {name, options, says} of refused) {
    it(`refuses ${name}`, () => {
      assert.throws(() => planDiscovery(options), {code: 'USAGE', message: says})
    })
  }

  it('refuses a malformed token without a byte of it', () => {
    assert.throws(
      () => planDiscovery({...byToken, token: 'foo.barbarbar'}),
      (error: TrustError) => {
        assert.equal(error.code, 'TOKEN_MALFORMED')
        assert.doesNotMatch(JSON.stringify([error.message, error.suggestions]), /barbar/)
        return true
      },
    )
  })

  it('shows neither a password in a URL nor a token that stands in the wrong place', () => {
    for (const options of [
      {file: 'https://me:hunter2@url/f'},
      {...byToken, caCertHashes: [TOKEN_TEXT]},
      {...byToken, endpoints: [TOKEN_TEXT]},
    ]) {
      assert.throws(
        () => planDiscovery(options),
        ({message, suggestions, facts}: TrustError) => {
          const shown = JSON.stringify([message, suggestions, facts])
          assert.doesNotMatch(shown, new RegExp(`hunter2|${TOKEN.secret}`))
          return true
        },
      )
    }
  })

  it('takes a token with an address and a hash', () => {
    assert.deepEqual(planDiscovery(byToken), {
      method: 'token',
      token: TOKEN,
      endpoints: [`https://${ENDPOINT}`],
      pins: new Set([HASH]),
    })
  })

  it('takes hashes also where CA verification may be skipped', () => {
    const plan = planDiscovery({...byToken, unsafeSkipCaVerification: true})
    assert.deepEqual(plan, planDiscovery(byToken))
  })

  it('takes no hash where CA verification may be skipped', () => {
    const unsafe = {...byToken, caCertHashes: [], unsafeSkipCaVerification: true}
    const plan = planDiscovery(unsafe)
    assert.deepEqual(plan.method === 'token' && [...plan.pins], [])
  })

  it('says, where a token comes without a pin, both ways out', () => {
    assert.throws(
      () => planDiscovery({...byToken, caCertHashes: []}),
      ({suggestions}: TrustError) => {
        assert.match(suggestions[0] ?? '', /--discovery-token-ca-cert-hash.*--print-join-command/)
        assert.match(suggestions[1] ?? '', /--discovery-token-unsafe-skip-ca-verification/)
        return true
      },
    )
  })

  it('takes several hashes, in any case of letters, each once', () => {
    const other = `sha256:${'1b'.repeat(32)}`
    const plan = planDiscovery({...byToken, caCertHashes: [HASH, HASH.toUpperCase(), other]})
    assert.deepEqual(plan.method === 'token' && plan.pins, new Set([HASH, other]))
  })

  it('takes several addresses, each once', () => {
    const plan = planDiscovery({...byToken, endpoints: ['a:1', 'b:2', 'https://a:1']})
    assert.deepEqual(plan.method === 'token' && plan.endpoints, ['https://a:1', 'https://b:2'])
  })

  it('takes a path, standard input and an https:// URL', async () => {
    const {pem} = await makeAuthority()
    const url = new URL('https://url/file.conf?a=b')
    assert.deepEqual(planDiscovery({file: 'some/file'}), {method: 'file', path: 'some/file'})
    assert.deepEqual(planDiscovery({file: '-'}), {method: 'stdin'})
    assert.deepEqual(planDiscovery({file: url.href}), {method: 'https', url, ca: undefined})
    assert.deepEqual(planDiscovery({file: url.href, fileCa: pem}), {method: 'https', url, ca: pem})
  })
})
