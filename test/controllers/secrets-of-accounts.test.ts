import assert from 'node:assert/strict'
import {SecretsOfAccounts} from '../../src/controllers/secrets-of-accounts.ts'
import {ACCOUNT_NAME} from '../../src/csr/bootstrapper.ts'

describe('the Secrets of accounts', () => {
  const secretOf = (account: string) => ({
    metadata: {namespace: 'default', name: 'one', annotations: {[ACCOUNT_NAME]: account}},
  })
  const KEY = 'default/one'

  it('are found by the account, until they are forgotten', () => {
    const secrets = new SecretsOfAccounts()
    assert.deepEqual(secrets.see(secretOf('robot'), KEY), [KEY])
    assert.deepEqual([...secrets.of('default/robot')], [KEY])
    assert.deepEqual(secrets.all(), [KEY])
    secrets.forget(KEY)
    secrets.forget(KEY)
    assert.deepEqual([[...secrets.of('default/robot')], secrets.all()], [[], []])
  })

  it('are found by the new account alone once the annotation has changed', () => {
    const secrets = new SecretsOfAccounts()
    secrets.see(secretOf('robot'), KEY)
    secrets.see(secretOf('other'), KEY)
    assert.deepEqual(
      [[...secrets.of('default/robot')], [...secrets.of('default/other')]],
      [[], [KEY]],
    )
    assert.deepEqual(secrets.all(), [KEY])
  })
})
