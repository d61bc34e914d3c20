import assert from 'node:assert/strict'
import {isPermitted, problemsOf, requestVerdicts} from '../../src/csr/request-rules.ts'
import type {RequestContent} from '../../src/csr/requested-certificate.ts'
import {
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
  SIGNER_RULES,
  type SignerRules,
  type WellKnownSigner,
} from '../../src/csr/signers.ts'
import {parseRequest} from '../../src/pki/request.ts'
import {NO_NAMES, type SubjectNames} from '../../src/pki/subject-names.ts'
import {csrFor} from '../controllers/signing/support.ts'

interface Wanted {
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

const content = ({names, ...wanted}: Wanted): RequestContent => ({
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  ...wanted,
  names: {...NO_NAMES, ...names},
})

const broken = (wanted: Wanted, rules: SignerRules) =>
  requestVerdicts(content(wanted), rules).filter(({holds}) => !holds)

interface Row {
  name: string
  signer: WellKnownSigner
  wanted: Wanted
  /** The rule that refuses it, and what it found. */
  code?: string
  why?: RegExp
}

const signed: Row[] = [
  {name: 'client auth', signer: API_SERVER_CLIENT, wanted: {usages: [CLIENT]}},
  {
    name: 'every usage there is, any subject and names',
    signer: API_SERVER_CLIENT,
    wanted: {usages: [CLIENT, DS, KE], commonName: 'ada', organizations: [], names: EVERY_NAME},
  },
  {name: 'key encipherment', signer: KUBELET_CLIENT, wanted: {usages: [KE, DS, CLIENT]}},
  {name: 'no key encipherment', signer: KUBELET_CLIENT, wanted: {usages: [DS, CLIENT]}},
  {name: 'a usage twice', signer: KUBELET_CLIENT, wanted: {usages: [DS, CLIENT, DS]}},
  {
    name: 'key encipherment',
    signer: KUBELET_SERVING,
    wanted: {usages: [KE, DS, SERVER], names: {dns: ['a']}},
  },
  {
    name: 'no key encipherment and just an address',
    signer: KUBELET_SERVING,
    wanted: {usages: [DS, SERVER], names: {ips: ['192.0.2.1']}},
  },
  {
    name: 'anything',
    signer: LEGACY_UNKNOWN,
    wanted: {usages: ['code signing', 'any'], commonName: '', organizations: [], names: EVERY_NAME},
  },
]

const refused: Row[] = [
  {
    name: 'server auth',
    signer: API_SERVER_CLIENT,
    wanted: {usages: [CLIENT, SERVER]},
    code: 'usages',
    why: /the usages are "client auth", "server auth", not permitted: "server auth"/,
  },
  {
    name: 'no client auth',
    signer: API_SERVER_CLIENT,
    wanted: {usages: [DS]},
    code: 'usages',
    why: /missing required usage "client auth"/,
  },
  {
    name: 'a common name of no node',
    signer: KUBELET_CLIENT,
    wanted: {usages: [DS, CLIENT], commonName: 'mike'},
    code: 'common-name',
    why: /the common name is "mike"/,
  },
  // As the approvers, and OpenShift's; Kubernetes' own signer takes a node without a name.
  ...([KUBELET_CLIENT, KUBELET_SERVING] as const).map((signer): Row => ({
    name: 'a node without a name',
    signer,
    wanted: {
      commonName: 'system:node:',
      usages: [DS, signer === KUBELET_CLIENT ? CLIENT : SERVER],
      names: signer === KUBELET_CLIENT ? {} : {dns: ['a']},
    },
    code: 'common-name',
    why: /the common name is "system:node:"/,
  })),
  {
    name: 'the same organization twice',
    signer: KUBELET_CLIENT,
    wanted: {usages: [DS, CLIENT], organizations: ['system:nodes', 'system:nodes']},
    code: 'organizations',
    why: /"system:nodes", "system:nodes"/,
  },
  {
    name: 'no organization',
    signer: KUBELET_CLIENT,
    wanted: {usages: [DS, CLIENT], organizations: []},
    code: 'organizations',
    why: /the organizations are none/,
  },
  {
    name: 'one organization more',
    signer: KUBELET_CLIENT,
    wanted: {usages: [DS, CLIENT], organizations: ['system:nodes', 'system:masters']},
    code: 'organizations',
    why: /"system:nodes", "system:masters"/,
  },
  ...(['dns', 'ips', 'emails', 'uris'] as const).map((kind): Row => ({
    name: `names of the kind ${kind}`,
    signer: KUBELET_CLIENT,
    wanted: {usages: [DS, CLIENT], names: {[kind]: EVERY_NAME[kind]}},
    code: 'names',
    why: /the alternative names are "/,
  })),
  {
    name: 'server auth besides',
    signer: KUBELET_CLIENT,
    wanted: {usages: [DS, CLIENT, SERVER]},
    code: 'usages',
    why: /not permitted: "server auth"/,
  },
  {
    name: 'no digital signature',
    signer: KUBELET_CLIENT,
    wanted: {usages: [KE, CLIENT]},
    code: 'usages',
    why: /missing required usage "digital signature"/,
  },
  {
    name: 'no name',
    signer: KUBELET_SERVING,
    wanted: {usages: [DS, SERVER]},
    code: 'names',
    why: /the alternative names are none/,
  },
  ...(['emails', 'uris'] as const).map((kind): Row => ({
    name: `names of the kind ${kind}`,
    signer: KUBELET_SERVING,
    wanted: {usages: [DS, SERVER], names: {dns: ['a'], [kind]: EVERY_NAME[kind]}},
    code: 'names',
    why: /the alternative names are "a", "/,
  })),
  {
    name: 'client auth',
    signer: KUBELET_SERVING,
    wanted: {usages: [DS, CLIENT], names: {dns: ['a']}},
    code: 'usages',
    why: /missing required usage "server auth", not permitted: "client auth"/,
  },
  {
    name: 'the signing of certificates',
    signer: LEGACY_UNKNOWN,
    wanted: {usages: ['cert sign']},
    code: 'usages',
    why: /"cert sign" is for CAs only/,
  },
]

describe('the rules of the well-known signers', () => {
  for (const {name, signer, wanted} of signed) {
    it(`let ${signer} sign ${name}`, () => {
      assert.ok(isPermitted(content(wanted), SIGNER_RULES[signer]))
    })
  }

  for (const {name, signer, wanted, code, why = /^$/} of refused) {
    it(`have ${signer} refuse ${name}`, () => {
      const [first, ...others] = broken(wanted, SIGNER_RULES[signer])
      assert.equal(first?.code, code)
      assert.match(first?.reason ?? '', why)
      assert.deepEqual(others, [])
    })
  }

  it('name every problem of a request at once', () => {
    const wanted = {usages: [SERVER], commonName: 'x', organizations: [], names: EVERY_NAME}
    assert.deepEqual(
      broken(wanted, SIGNER_RULES[KUBELET_CLIENT]).map(({code}) => code),
      ['organizations', 'common-name', 'names', 'usages'],
    )
  })

  it('quote a few of thousands of names', () => {
    const names = {dns: Array.from({length: 5000}, (_, index) => `n${index}.example.com`)}
    const [problem] = broken({usages: [DS, CLIENT], names}, SIGNER_RULES[KUBELET_CLIENT])
    assert.match(problem?.reason ?? '', /"n19\.example\.com" and 4980 more$/)
  })
})

describe('the rules of other signers', () => {
  const rules: SignerRules = {
    commonName: '*.example.com',
    organizations: {required: [], optional: ['a', 'b']},
    names: ['dns'],
    usages: {required: [], optional: [SERVER, DS]},
  }
  const good: Wanted = {commonName: 'x.example.com', organizations: ['b'], usages: [SERVER]}

  for (const [name, change, code] of [
    ['permit what is within them', {}, undefined],
    ['permit no organization', {organizations: []}, undefined],
    ['permit names of a kind that is listed', {names: {dns: ['y']}}, undefined],
    ['refuse another common name', {commonName: 'x.example.org'}, 'common-name'],
    ['refuse nothing in the place of the star', {commonName: '.example.com'}, 'common-name'],
    ['refuse an organization that is not listed', {organizations: ['a', 'c']}, 'organizations'],
    ['refuse names of another kind', {names: {ips: ['::1']}}, 'names'],
    ['refuse a usage that is not listed', {usages: [SERVER, CLIENT]}, 'usages'],
  ] as const) {
    it(name, () => {
      const [first] = broken({...good, ...change} as Wanted, rules)
      assert.equal(first?.code, code)
    })
  }

  it('take a common name without a star as it is', () => {
    const exact = {...rules, commonName: 'x'}
    assert.ok(isPermitted(content({...good, commonName: 'x'}), exact))
    assert.ok(!isPermitted(content({...good, commonName: 'xx'}), exact))
  })
})

describe('what a signer says of a request that it does not sign', () => {
  it('is what it found, and what it expects', async () => {
    const {spec} = await csrFor({organizations: []})
    const request = parseRequest(Buffer.from(spec.request, 'base64').toString())
    assert.deepEqual(problemsOf(spec, request, SIGNER_RULES[KUBELET_CLIENT]), [
      'the organizations are none (expected: the organizations are system:nodes, and nothing else)',
    ])
    assert.deepEqual(problemsOf(spec, request, SIGNER_RULES[LEGACY_UNKNOWN]), [])
  })

  it('is that others may read another request in it, where there are two', async () => {
    const {spec} = await csrFor()
    const pem = Buffer.from(spec.request, 'base64').toString()
    const twice = {...spec, request: Buffer.from(pem + pem).toString('base64')}
    const [problem] = problemsOf(twice, parseRequest(pem), SIGNER_RULES[KUBELET_CLIENT])
    assert.match(problem ?? '', /a single PEM block without headers/)
  })
})
