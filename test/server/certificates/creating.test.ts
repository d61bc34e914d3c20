import assert from 'node:assert/strict'
import {CSRS, condition, csrObject, ed25519Request, encoded, useServer} from './support.ts'

const FORM = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
const MINIMUM = 'may not specify a duration less than 600 seconds (10 minutes)'
const PEM = 'PEM block type must be CERTIFICATE REQUEST'
const letters = (length: number) => 'a'.repeat(length)
const DOMAIN_253 = `${letters(63)}.${letters(63)}.${letters(63)}.${letters(61)}`
const LONGEST = `${DOMAIN_253}/${letters(63)}.${letters(253)}`
const USAGES = [
  ...['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement'],
  ...['data encipherment', 'cert sign', 'crl sign', 'encipher only', 'decipher only', 'any'],
  ...['server auth', 'client auth', 'code signing', 'email protection', 's/mime'],
  ...['ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing'],
  ...['microsoft sgc', 'netscape sgc'],
]
const signer = (value: string, why: string | RegExp) => ({
  spec: {signerName: value},
  causes: [why],
})

/** The tables of cases 01, A: the refused ones, with what the server says of them. */
const refusals: Record<string, {spec: object; causes: (string | RegExp)[]}> = {
  'an empty request': {
    spec: {request: ''},
    causes: [`spec.request: Invalid value: "": ${PEM}`],
  },
  'a request that is no PEM': {
    spec: {request: encoded('invalid data')},
    causes: [`spec.request: Invalid value: "${encoded('invalid data')}": ${PEM}`],
  },
  'no usages': {spec: {usages: undefined}, causes: ['spec.usages: Required value']},
  'an empty list of usages': {spec: {usages: []}, causes: ['spec.usages: Required value']},
  'unknown and repeated usages': {
    spec: {usages: ['unknown', 'unknown']},
    causes: [
      /^spec\.usages\[0\]: Unsupported value: "unknown": supported values: "any", "cert sign"/,
      /^spec\.usages\[1\]: Unsupported value: "unknown"/,
      'spec.usages[1]: Duplicate value: "unknown"',
    ],
  },
  'no signerName': {spec: {signerName: undefined}, causes: ['spec.signerName: Required value']},
  'a signerName without a slash': signer(
    'an-invalid-signer-name',
    `spec.signerName: Invalid value: "an-invalid-signer-name": ${FORM}`,
  ),
  'a signerName with two slashes': signer(
    'an-invalid-signer-name.com/something/else',
    `spec.signerName: Invalid value: "an-invalid-signer-name.com/something/else": ${FORM}`,
  ),
  'a domain without a dot': signer(
    'example/some-signer-name',
    'spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots',
  ),
  'an empty path': signer(
    'example.com/',
    /^spec\.signerName: Invalid value: "": validating label "": a lowercase RFC 1123 subdomain/,
  ),
  'a path that ends in a dash': signer(
    'example.com/something-',
    /^spec\.signerName: Invalid value: "something-": validating label "something-": /,
  ),
  'a path of a dash': signer(
    'example.com/-',
    /^spec\.signerName: Invalid value: "-": validating label "-": /,
  ),
  'a signerName of more than 571 characters': signer(
    `${LONGEST}.toolong`,
    'spec.signerName: Too long: may not be more than 571 bytes',
  ),
  'a domain of more than 253 characters': signer(
    `${DOMAIN_253}.extra/path`,
    'spec.signerName: Too long: may not be more than 253 bytes',
  ),
  'a domain with a label of 66 characters': signer(
    `${letters(66)}.io/x`,
    /: validating label "a{66}": must be no more than 63 characters$/,
  ),
  'the legacy signer': signer(
    'kubernetes.io/legacy-unknown',
    'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
  ),
  ...Object.fromEntries(
    [-1, 0, 1, 60, 599].map((seconds) => [
      `a lifetime of ${seconds} seconds`,
      {
        spec: {expirationSeconds: seconds},
        causes: [`spec.expirationSeconds: Invalid value: ${seconds}: ${MINIMUM}`],
      },
    ]),
  ),
}

const accepted: Record<string, object> = {
  'the base of all cases': {},
  'a signerName with a dash in its path': {signerName: 'example.com/some-signer-name'},
  'a signerName of 571 characters': {signerName: LONGEST},
  'a long path behind a short domain': {signerName: `abc.io/${letters(253)}.${letters(253)}`},
  'a signer that Kubernetes does not know': {signerName: 'kubernetes.io/any-other'},
  'a lifetime of 600 seconds': {expirationSeconds: 600},
  'every usage there is': {usages: USAGES},
}

describe('POST of a CertificateSigningRequest', () => {
  const {api} = useServer()

  for (const [name, {spec, causes}] of Object.entries(refusals)) {
    it(`refuses ${name}`, async () => {
      const object = csrObject(spec)
      const answer = await api().post(CSRS, object)
      assert.equal(answer.status, 422, answer.text)
      assert.equal(answer.body.reason, 'Invalid')
      assert.deepEqual(
        {name: answer.body.details.name, kind: answer.body.details.kind},
        {name: object.metadata.name, kind: 'CertificateSigningRequest'},
      )
      assert.equal(answer.causes.length, causes.length, answer.causes.join('\n'))
      causes.forEach((wanted, index) => {
        if (wanted instanceof RegExp) assert.match(answer.causes[index] ?? '', wanted)
        else assert.equal(answer.causes[index], wanted)
      })
    })
  }

  for (const [name, spec] of Object.entries(accepted)) {
    it(`takes ${name}`, async () => {
      const object = csrObject(spec)
      const {status, body, text} = await api().post(CSRS, object)
      assert.equal(status, 201, text)
      for (const [field, value] of Object.entries(object.spec))
        assert.deepEqual(body.spec[field], value)
      assert.deepEqual(body.status, {})
    })
  }

  const wiped: Record<string, object[]> = {
    'an approval': [condition('Approved')],
    'a denial': [condition('Denied')],
    'an approval with a denial': [condition('Approved'), condition('Denied')],
    'an approval with a failure': [condition('Approved'), condition('Failed')],
  }
  for (const [name, conditions] of Object.entries(wiped)) {
    it(`wipes ${name} that comes with it`, async () => {
      const {status, body} = await api().post(CSRS, csrObject({}, {status: {conditions}}))
      assert.equal(status, 201)
      assert.deepEqual(body.status, {})
    })
  }

  it('refuses a signature that is not of the request', async () => {
    const der = Buffer.from(ed25519Request().replaceAll(/-----.*-----|\s/g, ''), 'base64')
    der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${encoded(der)}\n-----END CERTIFICATE REQUEST-----\n`
    const {status, causes} = await api().post(CSRS, csrObject({request: encoded(pem)}))
    assert.equal(status, 422)
    assert.match(causes.join(), /^spec\.request: Invalid value: ".*": .*signature/)
  })

  it('refuses a lifetime that is no number of 32 bits, before anything is looked at', async () => {
    const answer = await api().post(CSRS, csrObject({expirationSeconds: 2 ** 31}))
    assert.equal(answer.status, 400)
    assert.equal(answer.body.reason, 'BadRequest')
  })

  it('takes any name that a path can carry, and gives one where only a prefix is given', async () => {
    const name = `Any_Name:${csrObject().metadata.name}`
    const odd = await api().post(CSRS, {...csrObject(), metadata: {name}})
    assert.equal(odd.status, 201, odd.text)
    const given = await api().post(CSRS, {...csrObject(), metadata: {generateName: 'csr-'}})
    assert.equal(given.status, 201, given.text)
    assert.match(given.body.metadata.name, /^csr-[a-z0-9]{5}$/)
  })

  it('names all that is wrong at once', async () => {
    const spec = {request: 'Zm9v', usages: undefined, signerName: 'x', expirationSeconds: 5}
    const {causes} = await api().post(CSRS, csrObject(spec))
    assert.deepEqual(
      causes.map((cause) => cause.slice(0, cause.indexOf(':'))),
      ['spec.request', 'spec.usages', 'spec.signerName', 'spec.expirationSeconds'],
    )
  })

  it('refuses a second one of the same name', async () => {
    const object = csrObject()
    await api().make(CSRS, object)
    const again = await api().post(CSRS, object)
    assert.equal(again.status, 409)
    assert.equal(again.body.reason, 'AlreadyExists')
  })

  it('finds requests by their signer', async () => {
    const signerName = 'example.com/looked-for'
    const {metadata} = await api().make(CSRS, csrObject({signerName}))
    const {body} = await api().get(`${CSRS}?fieldSelector=spec.signerName%3D${signerName}`)
    assert.deepEqual(
      body.items.map((item) => item.metadata.name),
      [metadata.name],
    )
    const refused = await api().get(`${CSRS}?fieldSelector=spec.username%3Dadmin`)
    assert.equal(refused.status, 400)
  })
})
