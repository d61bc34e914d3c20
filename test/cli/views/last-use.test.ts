import assert from 'node:assert/strict'
import {credentialListView, credentialView} from '../../../src/cli/views/bootstrap-credentials.ts'
import {tokenView} from '../../../src/cli/views/token-show.ts'
import {TIME} from './width-samples.ts'
import {shows} from './widths.ts'

const credential = (details: object) => ({
  id: 'abc',
  kind: 'token',
  namespace: 'kube-system',
  state: 'live',
  created: TIME,
  expires: null,
  lastUsed: null,
  pending: [],
  obtained: null,
  ...details,
})
const token = (details: object) => ({
  id: 'abcdef',
  token: null,
  lastUsed: null,
  pending: [],
  ...details,
})
const NONE_YET = {certificates: [], refused: 0}

describe('when a credential was last used', () => {
  it('is never if the issuance log has no use of it', async () => {
    const unused = credential({issued: 0})
    assert.match(await shows(credentialView, unused), /^last used +<never>$/m)
    const list = await shows(credentialListView(false), {credentials: [unused]})
    assert.match(list, /^abc .* <never> +0 /m)
    const text = await shows(tokenView, token({obtained: NONE_YET}))
    assert.match(text, /^last used +<never>$/m)
  })

  it('is not known without the issuance log', async () => {
    const unknown = credential({issued: null})
    assert.match(await shows(credentialView, unknown), /^last used +<unknown>$/m)
    assert.match(await shows(tokenView, token({obtained: null})), /^last used +<unknown>$/m)
  })

  it('is a time if it was used, even if its creation is not known any more', async () => {
    const revoked = credential({state: 'revoked', created: null, lastUsed: TIME, issued: 1})
    const text = await shows(credentialView, revoked)
    assert.match(text, /^created +<unknown>$/m)
    assert.match(text, new RegExp(`^last used +${TIME}$`, 'm'))
  })
})
