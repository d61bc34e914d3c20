import assert from 'node:assert/strict'
import {servingPolicy} from '../../src/control-plane/serving-policy.ts'

describe('the policy for serving certificates', () => {
  const configured = {servingCIDRs: ['10.0.0.0/8'], servingDomains: ['corp.example.com']}
  const shown = ({cidrs, domains, deny}: ReturnType<typeof servingPolicy>) => ({
    cidrs: cidrs.map(({text}) => text),
    domains,
    deny,
  })

  it('allows nothing if nobody says so', () => {
    assert.deepEqual(shown(servingPolicy()), {cidrs: [], domains: [], deny: false})
  })

  it('is that of the configuration, but for what the command line says', () => {
    const domains = ['corp.example.com']
    assert.deepEqual(shown(servingPolicy({deny: true}, configured)), {
      cidrs: ['10.0.0.0/8'],
      domains,
      deny: true,
    })
    assert.deepEqual(shown(servingPolicy({cidrs: ['fd00::/8']}, configured)), {
      cidrs: ['fd00::/8'],
      domains,
      deny: false,
    })
  })
})
