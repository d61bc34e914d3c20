import assert from 'node:assert/strict'
import {describeToken} from '../../src/bootstrap/token-info.ts'
import {HOUR, NOW} from './support.ts'

const token = {id: 'k2m9xq', secret: 'w8h3t0vz5n1rjc7e'}

describe('a new token', () => {
  it('is for a day, for both usages and for the group of nodes that join', () => {
    assert.deepEqual(describeToken(token, {}, NOW), {
      token,
      description: '',
      expires: new Date(NOW.getTime() + 24 * HOUR),
      usages: {signing: true, authentication: true},
      groups: ['system:bootstrappers:kubeadm:default-node-token'],
    })
  })

  it('never expires with a time to live of 0', () => {
    assert.equal('expires' in describeToken(token, {ttl: 0}, NOW), false)
  })

  it('goes by the time it expires where that and a time to live are given', () => {
    const expires = new Date('2027-01-01T00:00:00Z')
    assert.deepEqual(describeToken(token, {expires, ttl: HOUR}, NOW).expires, expires)
  })

  it('has no groups where it does not authenticate', () => {
    const usages = {signing: true, authentication: false}
    assert.deepEqual(describeToken(token, {usages}, NOW).groups, [])
  })

  it('refuses groups where it does not authenticate', () => {
    const usages = {signing: true, authentication: false}
    const groups = ['system:bootstrappers:foo']
    assert.throws(() => describeToken(token, {usages, groups}, NOW), {code: 'USAGE'})
  })

  it('refuses a group that no token may have', () => {
    assert.throws(() => describeToken(token, {groups: ['system:masters']}, NOW), {code: 'USAGE'})
  })

  for (const ttl of [-1, 8000 * 365 * 24 * HOUR]) {
    it(`refuses a time to live of ${ttl} ms`, () => {
      assert.throws(() => describeToken(token, {ttl}, NOW), {code: 'USAGE'})
    })
  }
})
