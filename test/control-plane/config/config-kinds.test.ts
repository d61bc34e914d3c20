import assert from 'node:assert/strict'
import {parseConfigFile} from '../../../src/control-plane/config/config-file.ts'

const read = (tokens: unknown) =>
  parseConfigFile(
    JSON.stringify({
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'InitConfiguration',
      bootstrapTokens: tokens,
    }),
    'the file',
  )

describe('bootstrapTokens of a configuration', () => {
  it('are read with all their fields', () => {
    const {bootstrapTokens, warnings} = read([
      {
        token: 'nh3k2b.x8s0vq1zr5mw7cpd',
        description: 'for rack 7',
        ttl: '1h30m',
        usages: ['signing', 'authentication'],
        groups: ['system:bootstrappers:rack-7'],
      },
      {expires: '2027-01-31T12:00:00Z'},
    ])
    assert.deepEqual(bootstrapTokens, [
      {
        token: {id: 'nh3k2b', secret: 'x8s0vq1zr5mw7cpd'},
        description: 'for rack 7',
        ttl: 5_400_000,
        usages: {signing: true, authentication: true},
        groups: ['system:bootstrappers:rack-7'],
      },
      {expires: new Date('2027-01-31T12:00:00Z')},
    ])
    assert.deepEqual(warnings, [])
  })

  const refusals: {name: string; tokens: unknown; message: RegExp}[] = [
    {name: 'a map instead of a list', tokens: {token: 'canary'}, message: /a list of tokens/},
    {name: 'a text instead of a token', tokens: ['canary'], message: /bootstrapTokens\[0\] must/},
    {
      name: 'a malformed token',
      tokens: [{token: 'abcdef.CANARY'}],
      message: /a token is 6 characters/,
    },
    {name: 'a token that is a number', tokens: [{token: 17}], message: /token must be a string/},
    {name: 'an unknown field', tokens: [{canary: 'x'}], message: /has an unknown field/},
    {
      name: 'a time span that is none',
      tokens: [{ttl: 'canary'}],
      message: /\.ttl is not a valid duration/,
    },
    {name: 'a time that is none', tokens: [{expires: 'canary'}], message: /\.expires must be/},
    {name: 'an unknown usage', tokens: [{usages: ['dancing']}], message: /usage "dancing"/},
    {name: 'a foreign group', tokens: [{groups: ['system:masters']}], message: /system:masters/},
  ]
  for (const {name, tokens, message} of refusals) {
    it(`refuse ${name}, and show nothing of it`, () => {
      assert.throws(
        () => read(tokens),
        (error: Error) => {
          assert.match(error.message, /^the file: /)
          assert.match(error.message, message)
          assert.doesNotMatch(error.message, /canary/i)
          return true
        },
      )
    })
  }
})
