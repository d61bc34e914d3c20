import assert from 'node:assert/strict'
import {formatClusterInfo, jwsKey} from '../../src/bootstrap/cluster-info.ts'
import {pinsOf} from '../../src/discovery/cluster-info.ts'
import {proveByToken, requirePinned} from '../../src/discovery/token.ts'
import type {ClusterInfoRead, Trust} from '../../src/discovery/read-cluster-info.ts'
import {parsePins, type Pin, pinOf} from '../../src/pki/pins.ts'
import {independentJws} from '../helpers/jws.ts'
import {type Made, make, makeAuthority} from '../pki/certificate-builder.ts'
import {DAY, NOW, testAuthority, type TestAuthority, validAround} from '../pki/support.ts'
import {type Data, TOKEN} from './support.ts'

const SERVER = 'https://10.0.0.1:6443'
const OTHER = {id: 'zzzzzz', secret: TOKEN.secret}

const header = (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url')

describe('proveByToken', () => {
  let authority: TestAuthority
  let kubeconfig: string
  before(async () => {
    authority = await testAuthority()
    kubeconfig = formatClusterInfo({server: SERVER, ca: authority.pem})
  })

  const signed = (text: string): Data => ({
    kubeconfig: text,
    [jwsKey(TOKEN.id)]: independentJws(text, TOKEN),
  })

  /** A server that answers its reads in turn, and remembers how it was trusted. */
  function reader(...answers: Data[]) {
    const trusts: Trust[] = []
    const read = (trust: Trust): Promise<ClusterInfoRead> => {
      const data = answers[Math.min(trusts.push(trust), answers.length) - 1] ?? {}
      return Promise.resolve({kubeconfig: String(data.kubeconfig), data, serverTime: undefined})
    }
    return {read, trusts}
  }

  const pinned = () => ({token: TOKEN, pins: parsePins([pinOf(authority.certificate)])})
  const unpinned = {token: TOKEN, pins: parsePins([])}

  it('reads unverified, then again verified by the pinned CA', async () => {
    const {read, trusts} = reader(signed(kubeconfig))
    const info = await proveByToken(read, pinned(), NOW)
    assert.deepEqual(info, {
      server: SERVER,
      ca: authority.pem,
      kubeconfig,
      pins: [pinOf(authority.certificate)],
      warnings: [],
    })
    assert.deepEqual(trusts, [
      {insecure: true},
      {ca: authority.pem, tlsServerName: undefined, serverTime: undefined},
    ])
  })

  it('works without a pin, warns, and says the pin for the next time', async () => {
    const {read, trusts} = reader(signed(kubeconfig))
    const {warnings, pins} = await proveByToken(read, unpinned, NOW)
    assert.equal(trusts.length, 1)
    assert.equal(warnings.length, 1)
    const pin = pinOf(authority.certificate)
    assert.deepEqual(pins, [pin])
    assert.match(warnings[0] ?? '', new RegExp(`--discovery-token-ca-cert-hash ${pin}`))
  })

  it('takes a cluster without a CA of its own where none is pinned', async () => {
    const {read} = reader(signed(formatClusterInfo({server: SERVER})))
    const {ca, pins, warnings} = await proveByToken(read, unpinned, NOW)
    assert.deepEqual([ca, pins], [undefined, []])
    assert.doesNotMatch(warnings.join(), /ca-cert-hash/)
  })

  const refusals: {
    name: string
    code: string
    says?: RegExp
    reads?: number
    data: () => Data[]
  }[] = [
    {
      name: 'a current context that leads nowhere',
      code: 'CLUSTER_INFO_INVALID',
      says: /current-context/,
      data: () => [
        signed(
          kubeconfig
            .replace("current-context: ''", 'current-context: gone')
            .replace('current-context: ""', 'current-context: gone'),
        ),
      ],
    },
    {
      name: 'a kubeconfig "foo" with the signature "bar"',
      code: 'SIGNATURE_MALFORMED',
      says: /JWS signature of cluster-info does not verify/,
      data: () => [{kubeconfig: 'foo', [jwsKey(TOKEN.id)]: 'bar'}],
    },
    {
      name: 'a signature that is not text',
      code: 'SIGNATURE_MALFORMED',
      data: () => [{kubeconfig, [jwsKey(TOKEN.id)]: 7}],
    },
    {
      name: 'no signature for this token',
      code: 'SIGNATURE_MISSING',
      says: /no JWS signature in cluster-info for token ID "k3v8q1"/,
      data: () => [{kubeconfig, [jwsKey(OTHER.id)]: independentJws(kubeconfig, OTHER)}],
    },
    {
      name: 'a signature by another secret',
      code: 'SIGNATURE_WRONG',
      data: () => [
        {kubeconfig, [jwsKey(TOKEN.id)]: independentJws(kubeconfig, {...TOKEN, secret: 'x'})},
      ],
    },
    {
      name: 'a signature over another text',
      code: 'SIGNATURE_WRONG',
      data: () => [{...signed(kubeconfig), kubeconfig: `${kubeconfig} `}],
    },
    {
      name: 'a signature without an algorithm',
      code: 'SIGNATURE_ALGORITHM_REFUSED',
      data: () => [{kubeconfig, [jwsKey(TOKEN.id)]: `${header({alg: 'none', kid: TOKEN.id})}..`}],
    },
    {
      name: 'a signature that names another token',
      code: 'SIGNATURE_OF_OTHER_TOKEN',
      data: () => [{kubeconfig, [jwsKey(TOKEN.id)]: independentJws(kubeconfig, OTHER)}],
    },
    {
      name: 'a second read that differs',
      code: 'CLUSTER_INFO_CHANGED',
      reads: 2,
      data: () => [signed(kubeconfig), signed(`${kubeconfig}\n`)],
    },
    {
      name: 'no CA where one is pinned',
      code: 'CLUSTER_INFO_INVALID',
      says: /a CA is pinned/,
      data: () => [signed(formatClusterInfo({server: SERVER}))],
    },
    {
      name: 'signed credentials',
      code: 'CLUSTER_INFO_CREDENTIALS',
      says: /users\[0\]\.user\.token/,
      data: () => [
        signed(kubeconfig.replace('users: null', 'users: [{name: a, user: {token: x}}]')),
      ],
    },
  ]
  for (const {name, code, says = /./, reads = 1, data} of refusals) {
    it(`refuses ${name}`, async () => {
      const {read, trusts} = reader(...data())
      await assert.rejects(proveByToken(read, pinned(), NOW), {code, message: says})
      assert.equal(trusts.length, reads)
    })
  }

  it('refuses a CA that is not the pinned one, before any second read', async () => {
    const other = await testAuthority()
    const {read, trusts} = reader(signed(formatClusterInfo({server: SERVER, ca: other.pem})))
    await assert.rejects(proveByToken(read, pinned(), NOW), {code: 'PIN_MISMATCH'})
    assert.equal(trusts.length, 1)
  })

  it('refuses a second CA that comes along unpinned', async () => {
    const ca = authority.pem + (await testAuthority()).pem
    const {read} = reader(signed(formatClusterInfo({server: SERVER, ca})))
    await assert.rejects(proveByToken(read, pinned(), NOW), {code: 'CA_UNPINNED'})
  })

  for (const [name, pins] of [
    ['with a pin', pinned],
    ['without a pin', () => unpinned],
  ] as const) {
    it(`refuses an expired CA ${name}, and a clock that is behind it`, async () => {
      const ask = (now: Date) => proveByToken(reader(signed(kubeconfig)).read, pins(), now)
      const after = new Date(authority.certificate.notAfter.getTime() + DAY)
      const before = new Date(authority.certificate.notBefore.getTime() - DAY)
      await assert.rejects(ask(after), {code: 'CA_EXPIRED', message: /1 day ago/})
      await assert.rejects(ask(before), {code: 'CLOCK_SKEWED', message: /1 day behind/})
    })
  }

  it('takes a bundle in rotation where both CAs are pinned', async () => {
    const next = await testAuthority({validity: validAround(NOW, 1)})
    const {read} = reader(signed(formatClusterInfo({server: SERVER, ca: authority.pem + next.pem})))
    const both = [pinOf(authority.certificate), pinOf(next.certificate)]
    const {pins} = await proveByToken(read, {token: TOKEN, pins: parsePins(both)}, NOW)
    assert.deepEqual(pins, both)
  })
})

const check = (bundle: Made[], pinned: Made[], now = NOW) =>
  requirePinned(
    bundle.map(({certificate}) => certificate),
    new Set<Pin>(pinned.map(({certificate}) => pinOf(certificate))),
    now,
  )

describe('requirePinned', () => {
  let root: Made
  let other: Made
  before(async () => {
    root = await makeAuthority('root')
    other = await makeAuthority('root')
  })

  it('takes a bundle of pinned CAs', () => {
    check([root], [root])
    check([root, other], [other, root])
    check([root], [root, other])
  })

  it('takes a CA that a pinned one has signed, directly or through another', async () => {
    const middle = await makeAuthority('middle', {by: root})
    const lowest = await makeAuthority('lowest', {by: middle})
    check([lowest, root, middle], [root])
  })

  it('takes a CA that was made again with the pinned key', async () => {
    const again = await makeAuthority('root again', {keys: root.keys})
    check([again], [root])
  })

  it('refuses a bundle with no pinned CA, and names what it found', () => {
    assert.throws(() => check([other], [root]), {
      code: 'PIN_MISMATCH',
      message: new RegExp(`none of the public keys ${pinOf(other.certificate)} is pinned`),
    })
  })

  it('refuses a second root that comes along with the pinned one, in whatever order', () => {
    for (const bundle of [
      [root, other],
      [other, root],
    ]) {
      assert.throws(() => check(bundle, [root]), {
        code: 'CA_UNPINNED',
        message: new RegExp(pinOf(other.certificate)),
      })
    }
  })

  it('refuses what only claims to be signed by the pinned one', async () => {
    const forged = await makeAuthority('forged', {by: other})
    assert.throws(() => check([root, forged], [root]), {code: 'CA_UNPINNED'})
  })

  it('refuses what a pinned certificate has signed that is no CA', async () => {
    const leaf = await make({name: 'CN=leaf', by: root})
    const below = await makeAuthority('below', {by: leaf})
    assert.throws(() => check([leaf, below], [leaf]), {code: 'CA_UNPINNED'})
  })

  it('refuses an unpinned CA whose time is over, though a pinned one had signed it', async () => {
    const old = await makeAuthority('old', {by: root, notAfter: new Date(NOW.getTime() - 1000)})
    assert.throws(() => check([root, old], [root]), {code: 'CA_UNPINNED'})
  })

  it('leaves the time of pinned CAs to a check of its own', () => {
    check([root], [root], new Date(NOW.getTime() + 100 * DAY))
  })
})

describe('pinsOf', () => {
  it('gives the roots, for they vouch for what they have signed', async () => {
    const root = await makeAuthority('root')
    const below = await makeAuthority('below', {by: root})
    const both = [below.certificate, root.certificate]
    assert.deepEqual(pinsOf(both), [pinOf(root.certificate)])
    assert.deepEqual(pinsOf([below.certificate]), [pinOf(below.certificate)])
  })
})
