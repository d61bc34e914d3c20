import assert from 'node:assert/strict'

import type {ApiObject} from '../../../src/api/meta.ts'
import {validateCsrUpdate} from '../../../src/server/resources/certificate-signing-requests.ts'
import type {CertificateSigningRequest} from '../../../src/server/resources/csr-spec-validation.ts'
import {berForms, encoded, selfSignedPem} from './certificates.ts'
import {NOW_TEXT, contextOf, texts, updated} from './support.ts'

const PLURAL = 'certificatesigningrequests'
const ENDPOINTS = ['main', 'status', 'approval'] as const
const is = (type: string) => ({type, status: 'True'})
const csr = (status: object): CertificateSigningRequest => ({
  metadata: {name: 'x'},
  spec: {signerName: 'example.com/x', usages: ['client auth']},
  status: status,
})
const at = (subresource: string, version = 'v1') => contextOf({subresource, version})
const CONDITIONS = 'status.conditions: Forbidden: updates may not'
const CERTIFICATE = 'status.certificate: Forbidden: updates may not'

describe('what each endpoint says of a changed CertificateSigningRequest', () => {
  const pem: {certificate: string; other: string} = {certificate: '', other: ''}
  before(async () => {
    pem.certificate = encoded((await selfSignedPem()).certificate)
    pem.other = encoded((await selfSignedPem()).certificate)
  })

  const add = (type: string) => `${CONDITIONS} add a condition of type "${type}"`
  const remove = (type: string) => `${CONDITIONS} remove a condition of type "${type}"`
  const rows: {
    name: string
    old: () => object
    now: () => object
    says: Record<(typeof ENDPOINTS)[number], string[]>
  }[] = [
    {
      name: 'nothing',
      old: () => ({}),
      now: () => ({}),
      says: {main: [], status: [], approval: []},
    },
    {
      name: 'a stored certificate that is garbage',
      old: () => ({certificate: encoded('garbage')}),
      now: () => ({certificate: encoded('garbage')}),
      says: {main: [], status: [], approval: []},
    },
    ...['Approved', 'Denied'].map((type) => ({
      name: `a new ${type} condition`,
      old: () => ({}),
      now: () => ({conditions: [is(type)]}),
      says: {main: [add(type)], status: [add(type)], approval: []},
    })),
    ...['Approved', 'Denied', 'Failed'].map((type) => ({
      name: `a removed ${type} condition`,
      old: () => ({conditions: [is(type)]}),
      now: () => ({}),
      says: {main: [remove(type)], status: [remove(type)], approval: [remove(type)]},
    })),
    {
      name: 'a new Failed condition',
      old: () => ({}),
      now: () => ({conditions: [is('Failed')]}),
      says: {main: [], status: [], approval: []},
    },
    {
      name: 'a first certificate',
      old: () => ({}),
      now: () => ({certificate: pem.certificate}),
      says: {
        main: [`${CERTIFICATE} set certificate content`],
        status: [],
        approval: [`${CERTIFICATE} set certificate content`],
      },
    },
    {
      name: 'another certificate',
      old: () => ({certificate: pem.certificate}),
      now: () => ({certificate: pem.other}),
      says: {
        main: [`${CERTIFICATE} set certificate content`],
        status: [`${CERTIFICATE} modify existing certificate content`],
        approval: [`${CERTIFICATE} set certificate content`],
      },
    },
    {
      name: 'both decisions at once',
      old: () => ({}),
      now: () => ({conditions: [is('Approved'), is('Denied')]}),
      says: {
        main: [
          'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
          add('Approved'),
          add('Denied'),
        ],
        status: [
          'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
          add('Approved'),
          add('Denied'),
        ],
        approval: [
          'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
        ],
      },
    },
    {
      name: 'both decisions that are stored already',
      old: () => ({conditions: [is('Approved'), is('Denied')]}),
      now: () => ({conditions: [is('Approved'), is('Denied')]}),
      says: {main: [], status: [], approval: []},
    },
  ]
  for (const {name, old, now, says} of rows) {
    for (const endpoint of ENDPOINTS) {
      it(`${says[endpoint].length === 0 ? 'takes' : 'refuses'} ${name} at ${endpoint}`, () => {
        const errors = validateCsrUpdate(csr(now()), csr(old()), endpoint)
        assert.deepEqual(texts(errors), says[endpoint])
      })
    }
  }

  const conditions: [name: string, conditions: object[], errors: string[]][] = [
    ['without type', [{type: '', status: 'True'}], ['status.conditions[0].type: Required value']],
    ['without status', [{type: 'Odd'}], ['status.conditions[0].status: Required value']],
    [
      'Failed that is false',
      [{type: 'Failed', status: 'False'}],
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    [
      'of another type with an odd status',
      [{type: 'Odd', status: 'Maybe'}],
      [
        'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      ],
    ],
    [
      'given twice',
      [is('Failed'), is('Failed')],
      ['status.conditions[1].type: Duplicate value: "Failed"'],
    ],
  ]
  for (const [name, some, errors] of conditions) {
    it(`refuses a condition ${name}`, () => {
      const found = validateCsrUpdate(csr({conditions: some}), csr({}), 'status')
      assert.deepEqual(texts(found), errors)
    })
  }

  const certificates: [name: string, text: () => string, why: RegExp][] = [
    ['no PEM', () => 'hello', /must contain at least one CERTIFICATE PEM block$/],
    [
      'another type of block',
      () => '-----BEGIN CERTIFICATE1-----\naGk=\n-----END CERTIFICATE1-----\n',
      /only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE1"$/,
    ],
    [
      'headers',
      () => '-----BEGIN CERTIFICATE-----\nA: b\n\naGk=\n-----END CERTIFICATE-----\n',
      /no PEM block headers are permitted$/,
    ],
    [
      'a body that is not base64',
      () => '-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n',
      /must contain at least one CERTIFICATE PEM block$/,
    ],
    [
      'an empty body',
      () => '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
      /found CERTIFICATE PEM block containing 0 certificates$/,
    ],
    [
      'bytes that are no certificate',
      () => '-----BEGIN CERTIFICATE-----\naGk=\n-----END CERTIFICATE-----\n',
      /^status.certificate: Invalid value: "<certificate data>": ./,
    ],
  ]
  for (const [name, text, why] of certificates) {
    it(`refuses a certificate of ${name}`, () => {
      const found = texts(validateCsrUpdate(csr({certificate: encoded(text())}), csr({}), 'status'))
      assert.equal(found.length, 1)
      assert.match(found.join(), why)
    })
  }

  it('refuses a certificate in BER that is not DER', () => {
    for (const [name, text] of berForms(Buffer.from(pem.certificate, 'base64').toString())) {
      const found = validateCsrUpdate(csr({certificate: encoded(text)}), csr({}), 'status')
      assert.match(texts(found).join(), /^status.certificate: Invalid value/, name)
    }
  })

  it('lets v1beta1 give a condition twice', () => {
    const twice = csr({conditions: [is('Approved'), is('Approved')]})
    assert.deepEqual(validateCsrUpdate(twice, csr({}), 'approval', 'v1beta1'), [])
  })

  it('lets v1beta1 write any certificate, once', () => {
    const now = csr({certificate: encoded('hello')})
    assert.deepEqual(validateCsrUpdate(now, csr({}), 'status', 'v1beta1'), [])
    const replaced = validateCsrUpdate(now, csr({certificate: pem.other}), 'status', 'v1beta1')
    assert.match(texts(replaced).join(), /may not modify existing certificate content/)
  })
})

describe('what is left of a changed CertificateSigningRequest', () => {
  const old: ApiObject = csr({
    conditions: [{...is('Approved'), reason: 'first', lastTransitionTime: '2020-01-01T00:00:00Z'}],
    certificate: 'b2xk',
  })

  it('is neither spec nor status at the main endpoint', () => {
    const {object, errors} = updated(PLURAL, old, {spec: {signerName: 'other/x'}, status: {}})
    assert.deepEqual(object.spec, old.spec)
    assert.deepEqual(object.status, old.status)
    assert.deepEqual(errors, [])
  })

  it('is the stored decision at /status, whatever was sent of it', () => {
    const sent = {conditions: [{...is('Approved'), reason: 'forged'}], certificate: 'b2xk'}
    const {object, errors} = updated(PLURAL, old, {spec: {}, status: sent}, at('status'))
    assert.equal(object.status.conditions[0].reason, 'first')
    assert.deepEqual(object.spec, old.spec)
    assert.deepEqual(errors, [])
  })

  it('is the stored certificate at /approval, with conditions as sent', () => {
    const sent = {conditions: [{...is('Approved'), reason: 'again'}], certificate: 'bmV3'}
    const {object, errors} = updated(PLURAL, old, {spec: {}, status: sent}, at('approval'))
    assert.equal(object.status.conditions[0].reason, 'again')
    assert.equal(object.status.certificate, 'b2xk')
    assert.deepEqual(errors, [])
  })

  it('has times: of now for what is new, of before for what lasts', () => {
    const sent = {conditions: [is('Approved'), is('Failed')]}
    const {object} = updated(PLURAL, old, {status: sent}, at('approval'))
    assert.deepEqual(object.status.conditions, [
      {...is('Approved'), lastUpdateTime: NOW_TEXT, lastTransitionTime: '2020-01-01T00:00:00Z'},
      {...is('Failed'), lastUpdateTime: NOW_TEXT, lastTransitionTime: NOW_TEXT},
    ])
  })
})
