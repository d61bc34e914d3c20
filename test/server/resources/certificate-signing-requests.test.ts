import assert from 'node:assert/strict'

import type {ApiObject} from '../../../src/api/meta.ts'
import {certificateSigningRequests} from '../../../src/server/resources/certificate-signing-requests.ts'
import {berForms, encoded, requestPem} from './certificates.ts'
import {ANN, NOW_TEXT, cells, contextOf, createErrors, created, texts} from './support.ts'

const PLURAL = 'certificatesigningrequests'
const FORM = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
const MIN = 'may not specify a duration less than 600 seconds (10 minutes)'
const label = (length: number) => 'a'.repeat(length)
const FQDN_253 = `${label(63)}.${label(63)}.${label(63)}.${label(61)}`
const LONGEST = `${FQDN_253}/${label(63)}.${label(253)}`

const good: {request: string} = {request: ''}
const base = (spec: object) => ({
  metadata: {name: 'testcsr'},
  spec: {
    request: good.request,
    signerName: 'example.com/valid-name',
    usages: ['key encipherment'],
    ...spec,
  },
})
const v1beta1 = contextOf({version: 'v1beta1'})

describe('creating a CertificateSigningRequest', () => {
  before(async () => {
    good.request = encoded(await requestPem())
  })

  it('takes the base of all cases', () => {
    assert.deepEqual(createErrors(PLURAL, base({})), [])
  })

  const refusals: [name: string, spec: object, errors: (string | RegExp)[]][] = [
    [
      'an empty request',
      {request: ''},
      ['spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST'],
    ],
    [
      'a missing request',
      {request: undefined},
      ['spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST'],
    ],
    [
      'a request that is no PEM',
      {request: 'aGVsbG8='},
      ['spec.request: Invalid value: "aGVsbG8=": PEM block type must be CERTIFICATE REQUEST'],
    ],
    ['no usages', {usages: undefined}, ['spec.usages: Required value']],
    ['an empty list of usages', {usages: []}, ['spec.usages: Required value']],
    [
      'unknown and repeated usages',
      {usages: ['unknown', 'unknown']},
      [
        /^spec.usages\[0\]: Unsupported value: "unknown": supported values: "any", "cert sign",/,
        /^spec.usages\[1\]: Unsupported value: "unknown": .*"timestamping"$/,
        'spec.usages[1]: Duplicate value: "unknown"',
      ],
    ],
    ['no signerName', {signerName: undefined}, ['spec.signerName: Required value']],
    [
      'a signerName without a slash',
      {signerName: 'an-invalid-signer-name'},
      [`spec.signerName: Invalid value: "an-invalid-signer-name": ${FORM}`],
    ],
    [
      'a signerName with two slashes',
      {signerName: 'an-invalid-signer-name.com/something/else'},
      [`spec.signerName: Invalid value: "an-invalid-signer-name.com/something/else": ${FORM}`],
    ],
    [
      'a domain without a dot',
      {signerName: 'example/some-signer-name'},
      [
        'spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      'an empty path',
      {signerName: 'example.com/'},
      [/^spec.signerName: Invalid value: "": validating label "": a lowercase RFC 1123 subdomain/],
    ],
    [
      'a path that ends in a dash',
      {signerName: 'example.com/something-'},
      [/^spec.signerName: Invalid value: "something-": validating label "something-": a lower/],
    ],
    [
      'a path of a dash',
      {signerName: 'example.com/-'},
      [
        /^spec.signerName: Invalid value: "-": validating label "-": a lowercase RFC 1123 subdomain/,
      ],
    ],
    [
      'a signerName of more than 571 characters',
      {signerName: `${LONGEST}.toolong`},
      ['spec.signerName: Too long: may not be more than 571 bytes'],
    ],
    [
      'a domain of more than 253 characters',
      {signerName: `${FQDN_253}.extra/path`},
      ['spec.signerName: Too long: may not be more than 253 bytes'],
    ],
    [
      'a domain with a label of 66 characters',
      {signerName: `${label(66)}.io/x`},
      [/: validating label "a{66}": must be no more than 63 characters$/],
    ],
    [
      'the legacy signer',
      {signerName: 'kubernetes.io/legacy-unknown'},
      [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
    ...[-1, 0, 1, 60].map((seconds): [string, object, string[]] => [
      `a lifetime of ${seconds} seconds`,
      {expirationSeconds: seconds},
      [`spec.expirationSeconds: Invalid value: ${seconds}: ${MIN}`],
    ]),
  ]
  for (const [name, spec, errors] of refusals) {
    it(`refuses ${name}`, () => {
      const found = texts(createErrors(PLURAL, base(spec)))
      assert.equal(found.length, errors.length, found.join('\n'))
      errors.forEach((wanted, index) => {
        if (wanted instanceof RegExp) assert.match(found[index] ?? '', wanted)
        else assert.equal(found[index], wanted)
      })
    })
  }

  for (const signerName of [
    'example.com/some-signer-name',
    LONGEST,
    `abc.io/${label(253)}.${label(253)}`,
  ]) {
    it(`takes a signerName of ${signerName.length} characters`, () => {
      assert.deepEqual(createErrors(PLURAL, base({signerName})), [])
    })
  }

  it('takes a lifetime of 600 seconds', () => {
    assert.deepEqual(createErrors(PLURAL, base({expirationSeconds: 600})), [])
  })

  it('refuses a request whose signature is not its own', () => {
    const pem = Buffer.from(good.request, 'base64').toString()
    const der = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64')
    der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    const found = texts(createErrors(PLURAL, base({request: encoded(forged)})))
    assert.equal(found.length, 1)
    assert.match(found.join(), /^spec.request: Invalid value: /)
  })

  it('refuses a request in BER that is not DER', () => {
    for (const [name, text] of berForms(Buffer.from(good.request, 'base64').toString())) {
      const found = texts(createErrors(PLURAL, base({request: encoded(text)})))
      assert.match(found.join(), /^spec.request: Invalid value: /, name)
    }
  })

  it('names all that is wrong in the order of a real server', () => {
    const spec = {request: 'Zm9v', usages: undefined, signerName: 'x', expirationSeconds: 5}
    assert.deepEqual(
      createErrors(PLURAL, base(spec)).map(({field}) => field),
      ['spec.request', 'spec.usages', 'spec.signerName', 'spec.expirationSeconds'],
    )
  })

  it('takes the identity from the caller, whatever the body says', () => {
    const user = {username: 'bob', uid: '123', groups: ['g1'], extra: {foo: ['bar']}}
    const body = base({username: 'eve', uid: '9', groups: ['system:masters'], extra: {a: ['b']}})
    const {spec, status} = created(PLURAL, body, contextOf({user}))
    assert.deepEqual(
      {username: spec.username, uid: spec.uid, groups: spec.groups, extra: spec.extra},
      {username: 'bob', uid: '123', groups: ['g1'], extra: {foo: ['bar']}},
    )
    assert.deepEqual(status, {})
  })

  it('clears an identity that the caller does not have', () => {
    const user = {...ANN, username: '', groups: []}
    const {spec} = created(PLURAL, base({username: 'bob', uid: '1'}), contextOf({user}))
    assert.equal('username' in spec || 'uid' in spec || 'groups' in spec, false)
  })

  it('clears a status, and keeps the wanted lifetime', () => {
    const body = {...base({expirationSeconds: 1234}), status: {conditions: [{type: 'Approved'}]}}
    const made = created(PLURAL, body)
    assert.deepEqual(made.status, {})
    assert.equal(made.spec.expirationSeconds, 1234)
  })
})

describe('v1beta1 of CertificateSigningRequest', () => {
  const defaults = (sketch: object) => {
    const object = {metadata: {name: 'x'}, ...sketch} as ApiObject & Record<string, any>
    certificateSigningRequests.extraVersions?.[0]?.defaults?.(object)
    return object
  }
  const NODE = {commonName: 'system:node:n1', organizations: ['system:nodes']}

  it('fills in usages and the legacy signer', () => {
    const {spec} = defaults({spec: {request: encoded('nonsense')}})
    assert.deepEqual(spec, {
      request: encoded('nonsense'),
      usages: ['digital signature', 'key encipherment'],
      signerName: 'kubernetes.io/legacy-unknown',
    })
  })

  it("recognizes a kubelet's client and serving requests", async () => {
    const request = encoded(await requestPem(NODE))
    const client = defaults({spec: {request, usages: ['digital signature', 'client auth']}})
    assert.equal(client.spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet')
    const named = encoded(await requestPem(NODE, {dns: ['n1']}))
    const serving = defaults({spec: {request: named, usages: ['digital signature', 'server auth']}})
    assert.equal(serving.spec.signerName, 'kubernetes.io/kubelet-serving')
  })

  it('keeps what was sent, an empty list of usages too', () => {
    const spec = {signerName: 'example.com/x', usages: []}
    assert.deepEqual(defaults({spec: {...spec}}).spec, spec)
  })

  it('reads a condition without status as true', () => {
    const status = {conditions: [{type: 'Approved'}]}
    assert.deepEqual(defaults({status}).status, {
      conditions: [{type: 'Approved', status: 'True'}],
    })
  })

  it('takes the legacy signer, and any usages', () => {
    const spec = {signerName: 'kubernetes.io/legacy-unknown', usages: ['odd', 'odd']}
    assert.deepEqual(createErrors(PLURAL, base(spec), v1beta1), [])
  })
})

describe('the table of CertificateSigningRequests', () => {
  const rows: [status: object, text: string][] = [
    [{}, 'Pending'],
    [{conditions: [{type: 'Approved'}]}, 'Approved'],
    [{conditions: [{type: 'Approved'}, {type: 'Denied'}]}, 'Denied'],
    [{conditions: [{type: 'Approved'}, {type: 'Failed'}]}, 'Approved,Failed'],
    [{conditions: [{type: 'Approved'}], certificate: 'eA=='}, 'Approved,Issued'],
  ]
  for (const [status, text] of rows) {
    it(`shows ${text}`, () => {
      assert.equal(cells(PLURAL, {status}).Condition, text)
    })
  }

  it('shows who asks for what and for how long', () => {
    const spec = {signerName: 'example.com/x', username: 'ann', expirationSeconds: 3600}
    const shown = cells(PLURAL, {metadata: {creationTimestamp: NOW_TEXT}, spec})
    assert.deepEqual(
      [shown.Age, shown.SignerName, shown.Requestor, shown.RequestedDuration],
      ['0s', 'example.com/x', 'ann', '60m'],
    )
    assert.equal(cells(PLURAL, {spec: {}}).RequestedDuration, '<none>')
  })
})
