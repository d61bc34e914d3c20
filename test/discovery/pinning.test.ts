import assert from 'node:assert/strict'
import {pinsOf} from '../../src/discovery/cluster-info.ts'
import {requirePinned} from '../../src/discovery/pinning.ts'
import {pinOf, type Pin} from '../../src/pki/pins.ts'
import {make, makeAuthority, type Made} from '../pki/certificate-builder.ts'
import {DAY, NOW} from '../pki/support.ts'

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
