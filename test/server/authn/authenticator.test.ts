import assert from 'node:assert/strict'
import {parseCertificateDer, type Certificate} from '../../../src/pki/certificate.ts'
import {formatName} from '../../../src/pki/distinguished-name.ts'
import {createIssuer} from '../../../src/pki/issuer.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import type {ApiRequest, PeerCertificates} from '../../../src/server/kernel/api-request.ts'
import {createAuthenticator} from '../../../src/server/authn/authenticator.ts'
import type {BearerAuthenticator} from '../../../src/server/authn/bearer.ts'
import {
  createCertificateAuthenticator,
  type ClientTrust,
} from '../../../src/server/authn/client-certificates.ts'
import {SeenClients} from '../../../src/server/authn/seen-clients.ts'
import {
  keyRevocation,
  type RevocationId,
  RevocationList,
  serialRevocation,
} from '../../../src/trust/revocations.ts'
import {
  HOUR,
  MINUTE,
  NOW,
  TestClock,
  createAuthority,
  createIntermediate,
  createLeaf,
  peerOf,
  request,
  user,
} from './support.ts'
import type {LeafWishes, TestAuthority} from './support.ts'

const refusal = {message: 'Unauthorized', code: 401}

/** Knows the token `good`, and hates `bad`. */
const bearer: BearerAuthenticator = {
  name: 'test',
  authenticate(token) {
    if (token === 'bad') throw new Error('expired')
    return token === 'good' ? {user: user('robot', 'robots')} : undefined
  },
}

const certificateOf = (peer: PeerCertificates | undefined) =>
  parseCertificateDer(peer?.chain[0] ?? new Uint8Array())

describe('createAuthenticator', () => {
  let authority: TestAuthority
  let clock: TestClock
  let trust: ClientTrust
  let revoked: RevocationList
  let seen: SeenClients
  const trusting = (generation: number, ...certificates: Certificate[]): ClientTrust => ({
    generation,
    bundles: {client: {certificates}},
    bootstrap: [],
  })
  let authenticate: (parts?: Partial<ApiRequest>) => Promise<ReturnType<typeof user>>

  before(async () => {
    authority = await createAuthority()
  })

  beforeEach(() => {
    clock = new TestClock()
    trust = trusting(1, authority.issuer.certificate)
    revoked = new RevocationList()
    seen = new SeenClients()
    const run = createAuthenticator({
      certificates: createCertificateAuthenticator(
        {
          get current() {
            return trust
          },
        },
        revoked,
        seen,
      ),
      bearers: [bearer],
      audiences: ['api'],
      clock,
    })
    authenticate = async (parts) => (await run(request(parts))).user
  })

  const withLeaf = async (wishes?: LeafWishes) => peerOf(await createLeaf(authority, wishes))

  describe('with a client certificate', () => {
    it('takes common name, organizations in order and the fingerprint', async () => {
      const peer = await withLeaf({
        subject: [
          ['o', 'My Org'],
          ['o', 'second'],
          ['o', 'My Org'],
          ['cn', 'client_cn'],
        ],
      })
      assert.deepEqual(await authenticate({peer}), {
        username: 'client_cn',
        groups: ['My Org', 'second', 'My Org', 'system:authenticated'],
        extra: {'authentication.kubernetes.io/credential-id': [`X509SHA256=${peer.fingerprint}`]},
      })
    })

    it('takes the uid of the subject', async () => {
      const peer = await withLeaf({
        subject: [
          ['cn', 'ann'],
          ['uid', 'u-1'],
        ],
      })
      assert.equal((await authenticate({peer})).uid, 'u-1')
    })

    const refused: [string, LeafWishes][] = [
      ['for servers only', {usages: ['digital signature', 'server auth']}],
      ['that has expired', {until: new Date(NOW.getTime() - MINUTE)}],
      ['that is not valid yet', {from: new Date(NOW.getTime() + MINUTE)}],
      [
        'with an empty uid',
        {
          subject: [
            ['cn', 'ann'],
            ['uid', ''],
          ],
        },
      ],
      [
        'with two uids',
        {
          subject: [
            ['cn', 'ann'],
            ['uid', 'a'],
            ['uid', 'b'],
          ],
        },
      ],
    ]
    for (const [name, wishes] of refused) {
      it(`refuses one ${name}`, async () => {
        await assert.rejects(authenticate({peer: await withLeaf(wishes)}), refusal)
      })
    }

    describe('that is revoked', () => {
      const revoke = (...ids: RevocationId[]) =>
        revoked.set('list', {revocations: ids.map((id) => ({id}))})

      it('refuses every certificate of a revoked key, at once', async () => {
        const keys = await generateKeys('ECDSA-P256')
        const peers = [await withLeaf({keys}), await withLeaf({keys})]
        const other = await withLeaf()
        for (const peer of [...peers, other]) await authenticate({peer})
        revoke(keyRevocation(pinOf(certificateOf(peers[0]))))
        for (const peer of peers) await assert.rejects(authenticate({peer}), refusal)
        assert.equal((await authenticate({peer: other})).username, 'ann')
      })

      it('refuses a serial number of one issuer only, and takes it again when it leaves the list', async () => {
        const keys = await generateKeys('ECDSA-P256')
        const peer = await withLeaf({keys})
        const other = await withLeaf({keys})
        const {serial, issuer} = certificateOf(peer)
        revoke(serialRevocation(serial, 'CN=another'))
        assert.equal((await authenticate({peer})).username, 'ann')
        revoke(serialRevocation(serial, formatName(issuer)))
        await assert.rejects(authenticate({peer}), refusal)
        assert.equal((await authenticate({peer: other})).username, 'ann')
        revoked.delete('list')
        assert.equal((await authenticate({peer})).username, 'ann')
      })

      it('does not check signatures again for a change of the list', async () => {
        let checks = 0
        const {bundles} = trust
        trust = {
          generation: 2,
          bootstrap: [],
          get bundles() {
            checks += 1
            return bundles
          },
        }
        const peer = await withLeaf()
        await authenticate({peer})
        revoke(serialRevocation('1', 'CN=another'))
        await authenticate({peer})
        assert.equal(checks, 1)
      })
    })

    it('remembers those that authenticate, and no others', async () => {
      const headers = {'user-agent': 'kubectl/v1.36'}
      const peer = await withLeaf()
      await authenticate({peer, headers})
      clock.advance(MINUTE)
      await authenticate({peer, headers})
      await authenticate({peer: await withLeaf({subject: [['o', 'nameless']]})})
      await assert.rejects(authenticate({peer: await withLeaf({usages: ['server auth']})}), refusal)
      await authenticate({headers: {authorization: 'Bearer good'}})
      await authenticate({caller: user('controller')})
      const [client, ...more] = seen.list().clients
      assert.deepEqual(more, [])
      assert.equal(client?.user, 'ann')
      assert.equal(client.userAgent, 'kubectl/v1.36')
      assert.equal(client.address, '192.0.2.1')
      assert.equal(client.issuerPin, pinOf(authority.issuer.certificate))
      revoked.set('list', {revocations: [{id: keyRevocation(pinOf(certificateOf(peer)))}]})
      clock.advance(MINUTE)
      await assert.rejects(authenticate({peer, headers}), refusal)
      assert.equal(seen.list().clients[0]?.lastSeen, client.lastSeen)
    })

    it('refuses one of another CA of the same name', async () => {
      const other = await createAuthority()
      await assert.rejects(authenticate({peer: peerOf(await createLeaf(other))}), refusal)
    })

    it('refuses what is no certificate', async () => {
      await assert.rejects(authenticate({peer: peerOf(Buffer.from('nonsense'))}), refusal)
    })

    it('treats one without a common name as none', async () => {
      const peer = await withLeaf({subject: [['o', 'system:masters']]})
      assert.equal((await authenticate({peer})).username, 'system:anonymous')
    })

    it('follows intermediates that the client sends', async () => {
      const intermediate = await createIntermediate(authority)
      const good = await createLeaf(intermediate)
      const expired = await createLeaf(intermediate, {until: new Date(NOW.getTime() - MINUTE)})
      assert.equal((await authenticate({peer: peerOf(good, intermediate.der)})).username, 'ann')
      await assert.rejects(authenticate({peer: peerOf(expired, intermediate.der)}), refusal)
    })

    it('refuses a leaf that plays an intermediate', async () => {
      const keys = await generateKeys('ECDSA-P256')
      const leaf = await createLeaf(authority, {subject: [['cn', 'intermediate']], keys})
      const issuer = createIssuer(parseCertificateDer(leaf), keys.privateKey)
      const forged = await createLeaf({issuer, keys}, {subject: [['cn', 'admin']]})
      await assert.rejects(authenticate({peer: peerOf(forged, leaf)}), refusal)
    })

    it('refuses one without the intermediate that another connection has sent', async () => {
      const intermediate = await createIntermediate(authority)
      const leaf = await createLeaf(intermediate)
      assert.equal((await authenticate({peer: peerOf(leaf, intermediate.der)})).username, 'ann')
      await assert.rejects(authenticate({peer: peerOf(leaf)}), refusal)
    })

    it('remembers a refusal for a while, and only with the same bundle', async () => {
      const peer = await withLeaf({from: new Date(NOW.getTime() + 1000)})
      await assert.rejects(authenticate({peer}), refusal)
      clock.advance(2000)
      await assert.rejects(authenticate({peer}), refusal)
      clock.advance(9000)
      assert.equal((await authenticate({peer})).username, 'ann')
      const other = await createAuthority()
      const stranger = peerOf(await createLeaf(other))
      await assert.rejects(authenticate({peer: stranger}), refusal)
      trust = trusting(2, other.issuer.certificate)
      assert.equal((await authenticate({peer: stranger})).username, 'ann')
    })

    it('makes an address wait that keeps the server busy with unknown ones, and nobody else', async () => {
      const known = await withLeaf()
      await authenticate({peer: known})
      const unknown = (index: number) => peerOf(Buffer.from(`nonsense ${index}`))
      for (let index = 0; index < 1000; index++) {
        await assert.rejects(authenticate({peer: unknown(index)}), refusal)
      }
      await assert.rejects(authenticate({peer: unknown(1000)}), {code: 429})
      // What was refused is remembered, who is known is not checked again, and others are not concerned.
      await assert.rejects(authenticate({peer: unknown(999)}), refusal)
      assert.equal((await authenticate({peer: known})).username, 'ann')
      const stranger = peerOf(await createLeaf(await createAuthority('stranger')))
      await assert.rejects(authenticate({peer: stranger}), {code: 429})
      // Behind the same address may be somebody who is new and honest.
      assert.equal((await authenticate({peer: await withLeaf()})).username, 'ann')
      const pretender = peerOf(await createLeaf(await createAuthority()))
      await assert.rejects(authenticate({peer: pretender}), refusal)
      const elsewhere = {peer: await withLeaf(), remoteAddress: '192.0.2.2'}
      assert.equal((await authenticate(elsewhere)).username, 'ann')
    })

    it('does not count those that are trusted, however many', async () => {
      const leaves = await Promise.all(Array.from({length: 20}, () => withLeaf()))
      for (let round = 0; round < 60; round++) {
        trust = {...trust, generation: trust.generation + 1}
        for (const peer of leaves) assert.equal((await authenticate({peer})).username, 'ann')
      }
    })

    it('notices on the next request that it has expired', async () => {
      const peer = await withLeaf()
      await authenticate({peer})
      clock.advance(2 * HOUR)
      await assert.rejects(authenticate({peer}), refusal)
    })

    it('notices on the next request that its CA is not trusted any more', async () => {
      const peer = await withLeaf()
      await authenticate({peer})
      trust = trusting(2, (await createAuthority('other')).issuer.certificate)
      await assert.rejects(authenticate({peer}), refusal)
    })

    it('lets a good token speak for a caller whose certificate is wrong', async () => {
      const peer = await withLeaf({usages: ['server auth']})
      const headers = {authorization: 'Bearer good'}
      assert.equal((await authenticate({peer, headers})).username, 'robot')
    })

    it('looks at the certificate first', async () => {
      const headers = {authorization: 'Bearer bad'}
      assert.equal((await authenticate({peer: await withLeaf(), headers})).username, 'ann')
    })
  })

  describe('with a bearer token', () => {
    const accepted = [
      'Bearer good',
      'bearer good',
      'BEARER good',
      '  Bearer good  ',
      'Bearer good x',
    ]
    for (const authorization of accepted) {
      it(`accepts "${authorization}"`, async () => {
        assert.deepEqual(await authenticate({headers: {authorization}}), {
          username: 'robot',
          groups: ['robots', 'system:authenticated'],
        })
      })
    }

    const none = ['', 'Bearer', 'Bearer ', 'Bearer  good', 'Basic Z29vZA==', 'Bearergood', 'good']
    for (const authorization of none) {
      it(`sees no token in "${authorization}"`, async () => {
        const {username} = await authenticate({headers: {authorization}})
        assert.equal(username, 'system:anonymous')
      })
    }

    for (const token of ['bad', 'unknown', 'a'.repeat(100_000)]) {
      it(`refuses the token ${token.slice(0, 10)}`, async () => {
        const headers = {authorization: `Bearer ${token}`}
        await assert.rejects(authenticate({headers}), refusal)
      })
    }
  })

  it('makes a caller without credentials anonymous', async () => {
    assert.deepEqual(await authenticate(), {
      username: 'system:anonymous',
      groups: ['system:unauthenticated'],
    })
  })

  it('refuses a caller without credentials where anonymous callers are not wanted', async () => {
    const strict = createAuthenticator({
      certificates: () => Promise.resolve(undefined),
      bearers: [],
      audiences: [],
      clock,
      allowAnonymous: false,
    })
    await assert.rejects(strict(request()), refusal)
  })

  it('ignores the headers of a front proxy', async () => {
    const headers = {
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
      'x-remote-extra-a': 'b',
    }
    assert.equal((await authenticate({headers})).username, 'system:anonymous')
  })

  it('believes a caller of the same process', async () => {
    const caller = user('system:serviceaccount:kube-system:x', 'system:serviceaccounts')
    assert.deepEqual(await authenticate({caller, headers: {authorization: 'Bearer bad'}}), {
      username: 'system:serviceaccount:kube-system:x',
      groups: ['system:serviceaccounts', 'system:authenticated'],
    })
  })
})
