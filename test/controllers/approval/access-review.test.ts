import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {RememberedReviews} from '../../../src/controllers/approval/access-review.ts'
import {TrustError} from '../../../src/errors.ts'

const csr = (username: string) => ({
  spec: {username, groups: ['system:bootstrappers'], request: '', signerName: 'x'},
})

/** Says yes, and counts. */
function reviewer(fails = 0) {
  const asked: (string | undefined)[] = []
  const create: ApiClient['subjectAccessReviews']['create'] = (review) => {
    asked.push(review.spec.user)
    if (asked.length <= fails) return Promise.reject(new TrustError('SERVER_ERROR', 'not now'))
    return Promise.resolve({...review, status: {allowed: true}})
  }
  return {asked, client: {subjectAccessReviews: {create} as ApiClient['subjectAccessReviews']}}
}

describe('RememberedReviews', () => {
  it('asks once a second for each requester and permission', async () => {
    const {asked, client} = reviewer()
    let now = 0
    const reviews = new RememberedReviews(client, () => now)
    const ask = (user: string) => reviews.ask(csr(user), 'nodeclient')
    assert.deepEqual(await Promise.all([ask('ann'), ask('ann'), ask('bob')]), [
      {allowed: true, reason: ''},
      {allowed: true, reason: ''},
      {allowed: true, reason: ''},
    ])
    await reviews.ask(csr('ann'), 'selfnodeclient')
    now = 999
    await ask('ann')
    assert.deepEqual(asked, ['ann', 'bob', 'ann'])
    now = 1000
    await ask('ann')
    assert.deepEqual(asked, ['ann', 'bob', 'ann', 'ann'])
  })

  it('does not remember a failure', async () => {
    const {asked, client} = reviewer(1)
    const reviews = new RememberedReviews(client, () => 0)
    await assert.rejects(reviews.ask(csr('ann'), 'nodeclient'), {code: 'SERVER_ERROR'})
    assert.equal((await reviews.ask(csr('ann'), 'nodeclient')).allowed, true)
    assert.equal(asked.length, 2)
  })
})
