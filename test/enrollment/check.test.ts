import assert from 'node:assert/strict'
import {requireRequested} from '../../src/enrollment/check.ts'
import {issueLeaf} from '../../src/pki/issuer.ts'
import {generateKeys, type KeyPair} from '../../src/pki/keys.ts'
import {NO_NAMES} from '../../src/pki/subject-names.ts'
import type {Usage} from '../../src/pki/usages.ts'
import {makeAuthority, type TestAuthority} from '../client/support/certificates.ts'

const NOW = new Date()
const HOUR = 3_600_000
const at = (hours: number) => new Date(NOW.getTime() + hours * HOUR)

interface Wanted {
  subject: {commonName: string; organizations: string[]}
  usages: Usage[]
}

const CLIENT: Wanted = {
  subject: {commonName: 'ada', organizations: ['dev']},
  usages: ['digital signature', 'client auth'],
}
const SERVER: Wanted = {
  subject: {commonName: 'web', organizations: []},
  usages: ['digital signature', 'server auth'],
}

describe('the check of an issued certificate', () => {
  let authority: TestAuthority
  let keys: KeyPair
  before(async () => {
    authority = await makeAuthority('ca')
    keys = await generateKeys()
  })

  const issue = ({subject, usages} = CLIENT, {from = -1, to = 1, by = keys} = {}) =>
    issueLeaf(authority.issuer, {
      subject,
      names: NO_NAMES,
      publicKey: by.publicKey,
      usages,
      validity: {notBefore: at(from), notAfter: at(to)},
    })
  const check = (pem: string, wanted = CLIENT) => requireRequested(pem, wanted, keys, NOW)

  it('returns the certificate and those that came with it', async () => {
    const {certificate, intermediates} = check((await issue()) + authority.pem)
    assert.equal(certificate.subject.commonName, 'ada')
    assert.deepEqual(
      intermediates.map(({subject}) => subject.commonName),
      ['ca'],
    )
  })

  it('refuses one for another key', async () => {
    const pem = await issue(CLIENT, {by: await generateKeys()})
    assert.throws(() => check(pem), {code: 'CERTIFICATE_INVALID', message: /another key/})
  })

  for (const subject of [
    {commonName: 'bob', organizations: ['dev']},
    {commonName: 'ada', organizations: ['dev', 'system:masters']},
    {commonName: 'ada', organizations: []},
  ]) {
    it(`refuses a client with the subject ${JSON.stringify(subject)}`, async () => {
      const pem = await issue({...CLIENT, subject})
      assert.throws(() => check(pem), {code: 'CERTIFICATE_INVALID', message: /another name/})
    })
  }

  it('takes a server whose signer chose the subject', async () => {
    const pem = await issue({...SERVER, subject: {commonName: 'web.example', organizations: []}})
    assert.equal(check(pem, SERVER).certificate.subject.commonName, 'web.example')
  })

  it('refuses one that is not for what was asked', async () => {
    const pem = await issue({...CLIENT, usages: SERVER.usages})
    assert.throws(() => check(pem), {code: 'CERTIFICATE_INVALID', message: /not for "client auth"/})
  })

  it('refuses one that has expired', async () => {
    const pem = await issue(CLIENT, {from: -2, to: -1})
    assert.throws(() => check(pem), {code: 'CERTIFICATE_INVALID', message: /expired/})
  })

  it('takes one that is not valid yet for a clock that is behind', async () => {
    const pem = await issue(CLIENT, {from: 1, to: 2})
    assert.throws(() => check(pem), {code: 'CLOCK_SKEWED'})
  })

  for (const [what, pem] of [
    ['nothing', ''],
    ['something else', 'hello'],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(() => check(pem), {code: 'CERTIFICATE_INVALID'})
    })
  }
})
