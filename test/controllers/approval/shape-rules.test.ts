import assert from 'node:assert/strict'
import fc from 'fast-check'
import type {Asked} from '../../../src/controllers/approval/asked.ts'
import {allHold} from '../../../src/controllers/approval/opinion.ts'
import {
  kubeletClientRules,
  kubeletServingRules,
} from '../../../src/controllers/approval/shape-rules.ts'
import {nodeOfUser} from '../../../src/csr/node-names.ts'
import {isKubeletClient, isKubeletServing} from '../../../src/csr/shapes.ts'

const some = (...texts: string[]) => fc.subarray(texts)

const asked: fc.Arbitrary<Asked> = fc
  .record({
    commonName: fc.constantFrom('system:node:foo', 'system:node:a.b', 'foo', 'system:nodes:foo'),
    organizations: some('system:nodes', 'system:masters'),
    dns: some('foo', 'bar'),
    ips: some('10.0.0.1'),
    emails: fc.oneof({weight: 4, arbitrary: fc.constant<string[]>([])}, some('a@b')),
    uris: fc.oneof({weight: 4, arbitrary: fc.constant<string[]>([])}, some('spiffe://a')),
    usages: some('digital signature', 'key encipherment', 'client auth', 'server auth'),
  })
  .map(({commonName, organizations, usages, ...names}) => ({
    commonName,
    organizations,
    usages,
    names,
    signer: '',
    pin: 'sha256:00',
    node: nodeOfUser(commonName),
  }))

describe('shape rules', () => {
  for (const [name, rules, isShape] of [
    ['client', kubeletClientRules, isKubeletClient],
    ['serving', kubeletServingRules, isKubeletServing],
  ] as const) {
    it(`all hold exactly for the shape of a kubelet’s ${name} request`, () => {
      fc.assert(
        fc.property(asked, (one) => {
          const subject = {
            commonName: one.commonName,
            organizations: [...one.organizations],
            attributes: [],
          }
          const request = {subject, names: one.names} as unknown as Parameters<typeof isShape>[0]
          assert.equal(allHold(rules(one)), isShape(request, [...one.usages]))
        }),
        {numRuns: 500},
      )
    })
  }
})
