import assert from 'node:assert/strict'
import fc from 'fast-check'
import {problemsFor} from '../../../src/controllers/signing/rules.ts'
import {isKubeletClient, isKubeletServing} from '../../../src/csr/shapes.ts'
import {
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
  type WellKnownSigner,
} from '../../../src/csr/signers.ts'
import {NO_NAMES, type SubjectNames} from '../../../src/pki/subject-names.ts'

interface Asked {
  commonName?: string
  organizations?: string[]
  names?: Partial<SubjectNames>
  usages: string[]
}

const DS = 'digital signature'
const KE = 'key encipherment'
const CLIENT = 'client auth'
const SERVER = 'server auth'
const EVERY_NAME = {dns: ['a'], ips: ['192.0.2.1'], emails: ['a@b'], uris: ['spiffe://a']}

const askedOf = ({
  commonName = 'system:node:a',
  organizations = ['system:nodes'],
  names,
}: Asked) => ({
  subject: {commonName, organizations, attributes: [], der: Buffer.alloc(0)},
  names: {...NO_NAMES, ...names},
})

interface Row {
  name: string
  signer: WellKnownSigner
  asked: Asked
  /** What the refusal says; absent where it is signed. */
  why?: RegExp
}

const signed: Row[] = [
  {name: 'client auth', signer: API_SERVER_CLIENT, asked: {usages: [CLIENT]}},
  {
    name: 'every usage there is, any subject and names',
    signer: API_SERVER_CLIENT,
    asked: {usages: [CLIENT, DS, KE], commonName: 'ada', organizations: [], names: EVERY_NAME},
  },
  {name: 'key encipherment', signer: KUBELET_CLIENT, asked: {usages: [KE, DS, CLIENT]}},
  {name: 'no key encipherment', signer: KUBELET_CLIENT, asked: {usages: [DS, CLIENT]}},
  {
    name: 'key encipherment',
    signer: KUBELET_SERVING,
    asked: {usages: [KE, DS, SERVER], names: {dns: ['a']}},
  },
  {
    name: 'no key encipherment and just an address',
    signer: KUBELET_SERVING,
    asked: {usages: [DS, SERVER], names: {ips: ['192.0.2.1']}},
  },
  {
    name: 'anything',
    signer: LEGACY_UNKNOWN,
    asked: {usages: ['code signing', 'any'], commonName: '', organizations: [], names: EVERY_NAME},
  },
]

const refused: Row[] = [
  {
    name: 'server auth',
    signer: API_SERVER_CLIENT,
    asked: {usages: [CLIENT, SERVER]},
    why: /"server auth" are not among the permitted "client auth", "digital signature"/,
  },
  {
    name: 'no client auth',
    signer: API_SERVER_CLIENT,
    asked: {usages: [DS]},
    why: /missing required usage "client auth"/,
  },
  {
    name: 'a common name of no node',
    signer: KUBELET_CLIENT,
    asked: {usages: [DS, CLIENT], commonName: 'mike'},
    why: /the common name is "mike", and has to begin with "system:node:"/,
  },
  {
    name: 'no organization',
    signer: KUBELET_CLIENT,
    asked: {usages: [DS, CLIENT], organizations: []},
    why: /have to be just "system:nodes"/,
  },
  {
    name: 'one organization more',
    signer: KUBELET_CLIENT,
    asked: {usages: [DS, CLIENT], organizations: ['system:nodes', 'system:masters']},
    why: /\["system:nodes", "system:masters"\]/,
  },
  ...(['dns', 'ips', 'emails', 'uris'] as const).map((kind): Row => ({
    name: `names of the kind ${kind}`,
    signer: KUBELET_CLIENT,
    asked: {usages: [DS, CLIENT], names: {[kind]: EVERY_NAME[kind]}},
    why: /no alternative name is permitted/,
  })),
  {
    name: 'server auth besides',
    signer: KUBELET_CLIENT,
    asked: {usages: [DS, CLIENT, SERVER]},
    why: /"server auth" are not among the permitted/,
  },
  {
    name: 'no digital signature',
    signer: KUBELET_CLIENT,
    asked: {usages: [KE, CLIENT]},
    why: /missing required usage "digital signature"/,
  },
  {
    name: 'no name',
    signer: KUBELET_SERVING,
    asked: {usages: [DS, SERVER]},
    why: /one of DNS names and IP addresses has to be/,
  },
  ...(['emails', 'uris'] as const).map((kind): Row => ({
    name: `names of the kind ${kind}`,
    signer: KUBELET_SERVING,
    asked: {usages: [DS, SERVER], names: {dns: ['a'], [kind]: EVERY_NAME[kind]}},
    why: /only DNS names and IP addresses are permitted/,
  })),
  {
    name: 'client auth',
    signer: KUBELET_SERVING,
    asked: {usages: [DS, CLIENT], names: {dns: ['a']}},
    why: /missing required usage "server auth"; the usages "client auth" are not/,
  },
  {
    name: 'the signing of certificates',
    signer: LEGACY_UNKNOWN,
    asked: {usages: ['cert sign']},
    why: /"cert sign" is for CAs only/,
  },
]

describe('the rules of the well-known signers', () => {
  for (const {name, signer, asked} of signed) {
    it(`let ${signer} sign ${name}`, () => {
      assert.deepEqual(problemsFor(signer, askedOf(asked), asked.usages), [])
    })
  }

  for (const {name, signer, asked, why} of refused) {
    it(`have ${signer} refuse ${name}`, () => {
      assert.match(problemsFor(signer, askedOf(asked), asked.usages).join('; '), why ?? /^$/)
    })
  }

  it('name every problem of a request at once', () => {
    const asked = {usages: [SERVER], commonName: 'x', organizations: [], names: EVERY_NAME}
    assert.equal(problemsFor(KUBELET_CLIENT, askedOf(asked), [SERVER]).length, 5)
  })

  const some = <T>(...values: T[]) => fc.subarray(values)
  const anything = fc.record({
    commonName: fc.constantFrom('system:node:a', 'system:node:', 'ada', ''),
    organizations: some('system:nodes', 'system:nodes', 'more'),
    names: fc.record({dns: some('a'), ips: some('::1'), emails: some('a@b'), uris: some('a:b')}),
    usages: some(DS, KE, CLIENT, SERVER, 'any'),
  })

  for (const [signer, hasShape] of [
    [KUBELET_CLIENT, isKubeletClient],
    [KUBELET_SERVING, isKubeletServing],
  ] as const) {
    it(`sign for ${signer} just what has its shape`, () => {
      fc.assert(
        fc.property(anything, (asked) => {
          const request = askedOf(asked)
          const problems = problemsFor(signer, request, asked.usages)
          assert.equal(problems.length === 0, hasShape(request, asked.usages))
        }),
      )
    })
  }
})
