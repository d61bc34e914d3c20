import assert from 'node:assert/strict'
import {generateKeys} from '../../src/pki/keys.ts'
import {createServerServices} from '../../src/server/access.ts'
import {serviceAccountAuthenticator} from '../../src/server/authn/service-account-tokens.ts'
import {createTokenKeys} from '../../src/trust/token-keys.ts'
import {RbacIndex} from '../../src/server/authz/rbac/rbac-index.ts'
import {TestClock, objectReader, user} from './authn/support.ts'

describe('createServerServices', () => {
  it('reviews the tokens that it issues', async () => {
    const keys = createTokenKeys((await generateKeys('ECDSA-P384')).privateKey)
    const clock = new TestClock()
    const objects = objectReader(new Map([['serviceaccounts/a/robot', {metadata: {uid: 'u'}}]]))
    const tokens = {issuers: ['https://issuer'] as const, keys: () => keys, objects, clock}
    const services = createServerServices({
      index: new RbacIndex(),
      bearers: [serviceAccountAuthenticator(tokens)],
      audiences: ['https://issuer'],
      tokens,
    })
    const {token} = await services.issueToken({
      serviceAccount: {namespace: 'a', name: 'robot', uid: 'u'},
      audiences: services.audiences,
      expirationSeconds: 600,
    })
    const verdict = await services.reviewToken(token, [])
    assert.equal(verdict.authenticated && verdict.user.username, 'system:serviceaccount:a:robot')
    assert.deepEqual(services.rulesFor(user('ann'), 'a'), {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
    })
  })
})
