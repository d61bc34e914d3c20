import assert from 'node:assert/strict'
import {RecentRequests} from '../../../src/controllers/approval/recent-requests.ts'
import {bootstrapper} from './machine-cases.ts'
import {BOOTSTRAPPER, wished} from './support.ts'

const NOW = new Date('2026-01-01T12:00:00Z')

describe('RecentRequests', () => {
  const made = async (creationTimestamp: string | undefined, user = bootstrapper()) => {
    const csr = await wished(user)
    return {...csr, metadata: {...csr.metadata, ...(creationTimestamp && {creationTimestamp})}}
  }
  const denied = {conditions: [{type: 'Denied', status: 'True'} as const]}

  it('leaves out those of credentials that are not live', async () => {
    const recent = new RecentRequests()
    const csr = await made('2026-01-01T11:59:59Z')
    const extra = {'authentication.kubernetes.io/credential-id': ['JTI=stolen']}
    recent.see('stolen', {...csr, spec: {...csr.spec, extra}})
    recent.see('other', csr)
    assert.equal(
      recent.count(NOW, ({credential}) => credential !== 'JTI=stolen'),
      1,
    )
  })

  it('counts the bootstrapper’s undecided requests of the last hour', async () => {
    const recent = new RecentRequests()
    recent.see('new', await made('2026-01-01T11:59:59Z'))
    recent.see('almost-an-hour', await made('2026-01-01T11:00:00Z'))
    recent.see('old', await made('2026-01-01T10:59:00Z'))
    recent.see('of-a-token', await made('2026-01-01T11:59:59Z', BOOTSTRAPPER))
    recent.see('decided', {...(await made('2026-01-01T11:59:59Z')), status: denied})
    assert.equal(
      recent.count(NOW, () => true),
      2,
    )
    assert.equal(
      recent.count(new Date(NOW.getTime() + 1_800_000), () => true),
      1,
    )
  })

  it('counts a request once, until it is decided or deleted', async () => {
    const recent = new RecentRequests()
    const csr = await made('2026-01-01T11:30:00Z')
    for (const name of ['one', 'one', 'two']) recent.see(name, csr)
    assert.equal(
      recent.count(NOW, () => true),
      2,
    )
    recent.see('one', {...csr, status: denied})
    recent.see('two', undefined)
    recent.see('two', undefined)
    assert.equal(
      recent.count(NOW, () => true),
      0,
    )
  })

  it('counts a request whose time cannot be read', async () => {
    const recent = new RecentRequests()
    recent.see('one', await made(undefined))
    assert.equal(
      recent.count(NOW, () => true),
      1,
    )
  })
})
